"""The page of benchmarks says what the results say, and every result has a section and a script."""

import functools
import itertools
import math
import os
import re
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from pages import BENCHMARKS, ROOT, copied_into, missing_names
from threadpoolctl import threadpool_info

from atomstream import OnlineNMF

write_page, benchmark_records = import_module("write_page"), import_module("benchmark_records")
templates, guard, engine = map(import_module, ("templates", "guard", "engine"))
RECORDS = sorted(path.stem for path in BENCHMARKS.rglob("results/*.json"))
SCRIPTS = sorted(BENCHMARKS.rglob("*.py"))


@functools.cache
def pages():
    return write_page.pages()


@functools.cache
def sections():
    """The sections by their names, and the charts."""
    return {each.name: each for each in write_page.read([*write_page.SECTIONS, write_page.CHARTS])}


def test_pages_are_what_the_templates_and_the_results_give():
    """If this fails, run benchmarks/write_page.py."""
    for name, text in pages().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_names_its_commit_date_and_machine(name):
    record = benchmark_records.load(name)
    said = {"commit", "changed", "date", "seconds", "versions", "machine", "results"}
    assert set(record) == said
    assert re.fullmatch(r"[0-9a-f]{7,40}", record["commit"])
    assert record["changed"] is False
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert set(record["machine"]) == {"processor", "cores", "python"}
    assert record["results"]


def test_every_record_has_a_section_and_every_template_is_on_the_page():
    told = [sections()[name] for name in write_page.SECTIONS[:-1]]  # the notes are the last one
    assert sorted(name for each in told for name in each.records) == RECORDS
    assert len(RECORDS) >= 20
    found = {path.name.removesuffix(".md.jinja") for path in BENCHMARKS.glob("pages/*.jinja")}
    assert found == {*write_page.SECTIONS, write_page.CHARTS}


@pytest.mark.parametrize("name", write_page.SECTIONS)
def test_a_section_ends_with_the_commits_of_its_records(name):
    section = sections()[name]
    *_, last = str(section).strip().splitlines()
    for source, record in section.records.items():
        assert templates.source(source, record) in last
        assert record["commit"] in last
    assert str(section) in pages()["benchmarks/RESULTS.md"]


def test_every_record_has_a_script_that_writes_it():
    """In the names that scripts save under, a part in braces stands for any."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    saved = {
        said: {name for name in RECORDS if re.fullmatch(re.sub(r"{\w+}", r"[\\w-]+", said), name)}
        for said in re.findall(r'(?<!\.)\bsave\(f?"([^"]+)"', text)
    }
    assert sorted(set.union(*saved.values())) == RECORDS
    assert [said for said, names in saved.items() if not names] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_imports_names_that_the_library_has(path):
    assert missing_names(path) == []


@pytest.mark.parametrize("name", [*write_page.SECTIONS[:-1], write_page.CHARTS])
def test_measured_numbers_are_read_and_not_copied(name):
    """The notes, which are the last section, tell of many other runs, with numbers like these."""
    assert copied_into(sections()[name], BENCHMARKS) == []


def test_a_section_names_the_versions_of_its_peers_once():
    """And it ends with what code gave each of its records."""
    record = {"commit": "abc1234", "changed": False, "date": "2026-01-02", "seconds": None}
    records = {name: record | {"versions": {"river": "0.2", "numpy": "2"}} for name in ("b", "a")}
    section = templates.Section("x", records.get, records)
    section.said = SimpleNamespace(peers=["river", "spams-bin"])
    origin = "committed in abc1234, 2026-01-02."
    assert section.sources == f"a: {origin} b: {origin} Peers: river 0.2."


def test_figures_are_derived_as_said():
    curve = [[0.5, 8.0], [1.0, 4.0], [2.0, 2.0]]
    assert write_page.time_to(curve, 4.0) == 1.0
    assert write_page.time_to(curve, 1.9) is None
    assert write_page.time_to([[0.5, 0.2], [1.0, 0.9]], 0.8, rising=True) == 1.0
    assert [write_page.seconds(value, 1) for value in (1.25, None)] == ["1.2", "never"]
    ratios = write_page.over([{"a": 1, "b": 4}, {"a": 1, "b": None}, {"a": 3, "b": 4}], "a", "b")
    assert ratios == pytest.approx([0.25, math.nan, 0.75], nan_ok=True)
    assert write_page.middle(ratios) == 0.5
    run = {"error": 0.5, "one worker": {"32": 0.75, "128": 0.375, "256": 0.625}}
    assert write_page.alone_over(run) == -25


def test_slots_side_by_side_take_as_long_as_the_slowest_of_each_round(monkeypatch):
    run = engine.InTurn()
    run.began, run.slots = 5.0, {0: [1.0], 1: [2.0, 3.0, 0.5]}
    monkeypatch.setattr(engine.time, "process_time", lambda: 15.0)
    assert run.side_by_side() == 10 - 2.5


def test_one_worker_alone_learns_until_its_time_is_over(monkeypatch):
    rows = np.random.default_rng(0).random((600, 4))
    monkeypatch.setattr(engine.time, "process_time", itertools.count().__next__)
    model = engine.alone(OnlineNMF(2, random_state=0), [engine.Rows(rows)], 32, 2.5)
    assert model.n_samples_seen_ == 256 + 32


def test_the_rival_in_unmixing_finds_a_planted_simplex(room):
    """Without noise and without pure pixels; the pixels that are furthest out are too far in."""
    with mock.patch.dict(os.environ):  # the script sets the number of threads
        unmixing = import_module("unmixing")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        members = unmixing.random_spectra(3 + seed, 60, rng)
        X = unmixing.unit(unmixing.simulated(members, 1000, 0.0, seed, most=0.9))
        furthest = unmixing.vertices(X, len(members), 0)
        assert unmixing.judged(furthest, members) > 0.03
        room.error(
            unmixing.judged(unmixing.smallest(X, len(members), 0.01, 0), members), at_most=0.003
        )


@pytest.mark.parametrize("loss", ["squared", "kl", "huber"])
def test_the_rival_of_weighted_fits_descends_and_has_no_subnormal_numbers(loss):
    weights, rng = import_module("entry_weights"), np.random.default_rng(0)
    codes, atoms = (rng.random(shape) * (rng.random(shape) < 0.7) for shape in ((40, 3), (3, 12)))
    X, W = codes @ atoms + 1e-3, rng.lognormal(size=(40, 12))
    found, values = weights.starts(X, 3, 2), []
    for _ in range(40):
        found = weights.updates(X, W, *found, 100, loss)
        values.append(weights.value(X, W, *found, loss))
    assert (np.diff(values, axis=0) <= 1e-12 * values[0]).all()
    assert (values[-1] < values[0]).all()
    found[0][:, 0] = 1e-310
    assert weights.updates(X, W, *found, 1, loss)[0].min() > 1e-160


def test_division_leaves_nothing_of_brightness():
    unmixing, rng = import_module("unmixing"), np.random.default_rng(0)
    members = unmixing.random_spectra(3, 60, rng)
    shares, brightness = rng.dirichlet(np.ones(3), 500), rng.uniform(0.5, 2, (500, 1))
    found = unmixing.divided(brightness * (shares @ members))
    first = np.abs(np.linalg.svd(brightness * (shares @ members))[2][0])
    vertices = members / (members @ first)[:, None]
    own = np.linalg.lstsq(vertices.T, found.T, rcond=None)[0].T
    np.testing.assert_allclose(own @ vertices, found, atol=1e-10)
    np.testing.assert_allclose(own.sum(axis=1), 1)  # they lie in the simplex of the vertices
    assert own.min() > -1e-10


class Extremes:
    """A detector whose alarms are the values far from zero."""

    def update(self, value):
        self.drift_detected = abs(value) > 5


def test_searched_detectors_pay_for_missed_changes_and_false_alarms():
    drift = import_module("drift")
    values = np.zeros(drift.N_BATCHES)
    values[[100, 252]] = -9, 9
    assert drift.Setting(Extremes, {}).find(values) == [100, 252]
    assert drift.Setting(Extremes, {}).cost({"abrupt": [values]}) == (502 / 3, 1)
    assert drift.Setting(Extremes, {}, upward=True).find(values) == [252]


def test_the_blas_of_spams_takes_the_kernels_of_numpy():
    kernels = {each["architecture"] for each in threadpool_info() if "numpy" in each["filepath"]}
    if not kernels:
        pytest.skip("NumPy's products here are not those of an OpenBLAS of its own")
    assert os.environ["OPENBLAS_CORETYPE"] in kernels
    early = [
        path.name for path in SCRIPTS if re.search(r"^(import|from) spams", path.read_text(), re.M)
    ]
    assert not early, "imported before benchmark_records may have named the kernels"


def test_a_round_of_k_svd_explains_more_and_revives_an_atom_without_samples():
    """Atoms that four samples each were made from are found but for their sign."""
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.standard_normal((6, 3)))[0]
    entries = np.kron(np.eye(3), rng.uniform(1, 2, 4))
    columns, learned = atoms @ entries, atoms + 0.1 * rng.standard_normal(atoms.shape)
    codes = sp.csr_array(entries)
    import_module("k_svd").k_svd_round(columns, learned, codes)
    assert np.linalg.norm(learned, axis=0) == pytest.approx(1)
    assert learned @ codes.toarray() == pytest.approx(columns)
    unused = sp.csr_array(entries * [[0], [1], [1]])
    import_module("k_svd").k_svd_round(columns, learned, unused)
    assert learned[:, 0] == pytest.approx(atoms[:, 0])


@pytest.fixture
def guarded(monkeypatch):
    """Stand-ins for git and for the guard's processes; what is said to them, in turn."""
    said = []

    def start(command, *, env, **pipes):
        name = "now" if env["PYTHONPATH"].startswith(str(ROOT / "src")) else "before"
        return SimpleNamespace(name=name, kill=lambda: said.append(f"kill {name}"))

    monkeypatch.setattr(guard, "_git", lambda *words: said.append(words[1]))
    monkeypatch.setattr(guard.subprocess, "Popen", start)
    monkeypatch.setattr("sys.argv", ["guard", "--against", "HEAD", "--cases", "patches", "walks"])
    return said


@pytest.mark.parametrize(("times", "slower"), [((1.0, 1.0), 0), ((1.0, 1.2), 1), ((1.2, 1.0), 0)])
def test_the_guard_ends_with_1_where_code_has_become_slower(
    times, slower, guarded, monkeypatch, capsys
):
    asked, seconds = [], dict(zip(("before", "now"), times, strict=True))

    def answer(process, name):
        asked.append(process.name)
        return seconds[process.name]

    monkeypatch.setattr(guard, "asked", answer)
    assert guard.main() == slower
    assert asked[:4] == ["before", "now", "now", "before"]  # who goes first changes
    assert guarded == ["add", "kill now", "kill before", "remove"]
    assert ("SLOWER" in capsys.readouterr().out) == bool(slower)


def test_the_guard_leaves_nothing_behind_where_a_case_fails(guarded, monkeypatch):
    monkeypatch.setattr(guard, "asked", lambda process, name: None)
    with pytest.raises(SystemExit, match="patches fails"):
        guard.main()
    assert guarded == ["add", "kill now", "kill before", "remove"]


def test_the_guard_leaves_nothing_behind_where_a_process_does_not_start(guarded, monkeypatch):
    first = guard.subprocess.Popen

    def start(command, *, env, **pipes):
        process = first(command, env=env)
        if process.name == "now":
            raise OSError("no more processes")
        return process

    monkeypatch.setattr(guard.subprocess, "Popen", start)
    with pytest.raises(OSError, match="no more processes"):
        guard.main()
    assert guarded == ["add", "kill before", "remove"]
