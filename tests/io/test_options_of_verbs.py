"""Each verb, format and option of reading: the option is used, or refused in one sentence."""

import re
from dataclasses import fields

import numpy as np
import pytest
from cases import of_fields
from written import ARRAYS, TABLES, rows, write

from atomstream.io.inputs import CALLED, OF_IMAGES
from atomstream.runs import kinds_of_runs
from atomstream.runs.reading import series_reading, triple_reading
from atomstream.runs.task import task_named

pytest.importorskip("PIL.Image", reason="needs Pillow")
pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra io")

DAYS = [f"{1 + day % 12}/{1 + day // 12}/2020" for day in range(41) if day != 3]
GAP = [f"2020-03-{day:02}" for day in range(1, 32) if day != 4][:20]

# Values of options that change what is read where they are used, with what an entry must be.
VALUES = {
    "header": ("no", "0.5"),
    "delimiter": ("|", "0.5"),
    "comment": ("b", "0.5"),
    "skip_lines": ("2-2", "0.5"),
    "encoding": ("utf-16", "0.5"),
    "decimal": (",", "0.5"),
    "thousands": ("'", "1'000"),
    "na": (("0.125",), "0.125"),
    "below_limit": ("half", "<0.5"),
    "on_bad_line": ("skip", "oops"),
    "columns": (("a", "b"), "0.5"),
    "drop": (("b",), "0.5"),
    "index": ("b", "0.5"),
    "time": ("b", "0.5"),
    "dates": ("month-first", "0.5"),
    "regular": (True, "0.5"),
    "duplicates": ("mean", "0.5"),
    "triples": (True, "0.5"),
    "key": ("other", "0.5"),
    "patch": (5, "0.5"),
    "grey": (True, "0.5"),
    "per_image": (7, "0.5"),
    "axis": ("1", "0.5"),
    "sample_axes": ("1", "0.5"),
}
OF_ARRAYS = {"key", "axis", "sample_axes", *OF_IMAGES} - {"center"}


WITHOUT_LINES = (".parquet", ".npy", ".npz", ".mtx", ".png")
# Of each verb: formats, what writes them, what is read, and what returns further settings, given
# the path.
VERBS = {
    "": ((*TABLES, *ARRAYS, ".png"), write, rows, lambda path: {}),
    **of_fields("verbs"),
}
COMBINATIONS = [(verb, ending) for verb, (endings, *_) in VERBS.items() for ending in endings]


def outcome(verb, path, **option):
    """Return what a verb reads of a file, or the sentence with which it refuses it."""
    task = task_named(verb.removesuffix(" of states"))
    _, _, read, more = VERBS[verb]
    known = {each.name for each in fields(task.settings_type)}
    if not option.keys() <= known:
        return None
    try:
        with np.printoptions(threshold=10_000, precision=17):
            settings = task.settings_type(inputs=(str(path),), **more(path), **option)
            return str(read(task, settings))
    except ValueError as error:
        return f"refused: {error}"


@pytest.mark.parametrize(("verb", "ending"), COMBINATIONS)
@pytest.mark.filterwarnings("ignore::atomstream.exceptions.AtomstreamWarning")
def test_an_option_is_used_or_refused(tmp_path, verb, ending):
    over_time = verb.startswith(("series", "sources"))
    for option, (value, entry) in VALUES.items():
        times = {"regular": GAP, "duplicates": ["2020-03-01", *GAP[:-1]]}.get(option, DAYS)
        path = tmp_path / f"{option}{ending}"
        VERBS[verb][1](path, entry, times if over_time else None)
        found = outcome(verb, path, **{option: value})
        bad = ending in WITHOUT_LINES or verb == "text"
        if found is None or (option == "on_bad_line" and bad):
            continue  # no option of this verb; rows of all kinds may be bad, documents be empty
        flag = f"--{option.replace('_', '-')} "
        assert flag in found or found != outcome(verb, path), (option, found[:200])
        assert not found.startswith("refused") or re.fullmatch(r"refused: .*\.", found), found


def test_all_verbs_and_options_are_there():
    assert {verb.removesuffix(" of states") for verb in VERBS} == {*kinds_of_runs()}
    known = {each.name for kind in (series_reading, triple_reading) for each in fields(kind)}
    assert {*VALUES} == known | OF_ARRAYS
    assert {*CALLED.values()} <= {*VALUES}
