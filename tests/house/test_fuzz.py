"""A slice of the fuzzing of all readers and of the model loader; ``make fuzz`` runs more of it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import fuzz

CASES = 30  # of each kind


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_damaged_files_lead_to_rows_or_to_one_sentence(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz.hdf5, "ended", fuzz.ended)
    before = fuzz.source.max_memory.set(10**8)
    try:
        engine = fuzz.Fuzz(1, [kind], tmp_path)
        wrong = [complaint for n in range(CASES) if (complaint := engine.case(n))]
    finally:
        fuzz.source.max_memory.reset(before)
    assert not wrong
    assert engine.outcomes[kind].total() == CASES


def test_the_engine_tells_a_reader_that_fails(tmp_path, monkeypatch):
    """A reader that fails on a certain byte is caught, and its case can be repeated."""

    def brittle(path):
        if b"\xff" in path.read_bytes():
            raise KeyError("a bug")
        return 1

    monkeypatch.setitem(fuzz.KINDS, "brittle", ("x", lambda: [b"content"], brittle, None))
    engine = fuzz.Fuzz(0, ["brittle"], tmp_path)
    found = [(n, complaint) for n in range(400) if (complaint := engine.case(n))]
    assert found
    number, complaint = found[0]
    assert "KeyError" in complaint
    assert b"\xff" in (tmp_path / f"case-{number}-x").read_bytes()
