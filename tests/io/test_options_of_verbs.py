"""Each verb, format and option of reading: the option is used, or refused in one sentence."""

import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from atomstream import sources
from atomstream.fields.video.frames import as_frames
from atomstream.io import read_series
from atomstream.io.inputs import CALLED, OF_IMAGES
from atomstream.runs import kinds_of_runs
from atomstream.runs.reading import series_reading, triple_reading
from atomstream.runs.task import task_named

nx = pytest.importorskip("networkx", reason="needs networkx")
imaging = pytest.importorskip("PIL.Image", reason="needs Pillow")
pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra io")

rng = np.random.default_rng(0)
X = rng.integers(1, 64, (40, 4)) / 64
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


def table(entry, times=None):
    """Return a table of texts, of which one entry is given."""
    frame = pd.DataFrame(X, columns=[*"abcd"]).astype(str)
    frame.loc[7, "c"] = entry
    if times is not None:
        frame = frame[: len(times)]
        frame.insert(0, "t", times)
    return frame


def write(path, entry, times=None):
    """Write a table, an array or a picture, as its name ends."""
    frame = table(entry, times)
    ending = path.suffix
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == ".parquet":
        frame.loc[7, "c"] = entry if re.fullmatch(r"[\d.]+", entry) else "0.5"
        frame.astype(dict.fromkeys("abcd", float)).to_parquet(path)
    elif ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, only=X)
    elif ending == ".mtx":
        mmwrite(path, sp.coo_array(X))
    elif ending == ".png":
        imaging.fromarray(rng.integers(0, 255, (30, 30, 3)).astype("u1")).save(path)


def write_edges(path, entry, _):
    """Write a network, as its name ends."""
    graph = nx.Graph([(i, (i + 1) % 9, {"weight": 0.5}) for i in range(9)])
    if path.suffix == ".csv":
        lines = ["source,target,b,weight", *(f"{i},{(i + 1) % 9},1,0.5" for i in range(8))]
        path.write_text("\n".join([*lines, f'8,0,1,"{entry}"']) + "\n")
    elif path.suffix == ".npz":
        sp.save_npz(path, nx.to_scipy_sparse_array(graph))
    else:
        getattr(
            nx,
            {".graphml": "write_graphml", ".gexf": "write_gexf", ".net": "write_pajek"}[
                path.suffix
            ],
        )(graph, path)


def write_texts(path, entry, _):
    """Write documents."""
    texts = [entry, "a book about boats|birds", "big blue balls"]
    frame = pd.DataFrame({"a": texts, "b": ["x", "y", "z"]})
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        path.write_text("\n".join(texts))


def write_channels(path, entry, _):
    """Write a table of mutations."""
    frame = table("0.5" if entry == "oops" else entry)
    frame["d"] = "0" if entry == "oops" else frame["d"]  # a sample without mutations
    frame.insert(0, "MutationType", [f"channel{i}" for i in range(len(frame))])
    frame.to_csv(path, index=False, sep="\t")


def write_states(path, entry, _):
    """Write states of a walk."""
    if path.suffix == ".npy":
        np.save(path, np.arange(20) % 3)
    else:
        path.write_text("\n".join(["red", "blue", entry] * 5))


def write_cube(path, entry, _):
    """Write a tensor of three axes."""
    cube = X[:24].reshape(4, 6, 4)
    if path.suffix == ".npy":
        np.save(path, cube)
    elif path.suffix == ".npz":
        np.savez(path, only=cube)
    else:
        places = dict(zip("abc", np.indices(cube.shape).reshape(3, -1), strict=True))
        pd.DataFrame(places | {"value": cube.ravel(), "d": 1.0}).to_parquet(path)


def write_video(path, entry, _):
    """Write the frames of a video."""
    frames = rng.integers(0, 255, (5, 6, 7, 3)).astype("u1")
    np.save(path, frames) if path.suffix == ".npy" else np.savez(path, only=frames)


def rows(task):
    """Return what is learned of rows."""
    return [block.X for source in task.sources for block in source.blocks(0, 0)]


def series(settings):
    """Return a table over time."""
    table = read_series(settings.inputs[0], **settings.reading())
    return table.values, table.labels


def concentrations(settings):
    """Return a table of species."""
    table = sources.read(*2 * settings.inputs, kinds=STRONG, **settings.reading())
    return table.values, table.dates


TABLES = (".csv", ".jsonl", ".parquet")
ROWS = (*TABLES, ".npy", ".npz", ".mtx", ".png")
STRONG = dict.fromkeys("abcd", "strong")
WITHOUT_LINES = (".parquet", ".npy", ".npz", ".mtx", ".png")
ENDS = {"origin": ("a", "b"), "destination": ("c", "d")}
# Of each verb: formats, what writes them, what is read, further settings.
VERBS = {
    "": (ROWS, write, rows, {}),
    "consensus": (ROWS[:-1], write, rows, {}),
    "series forecast": (TABLES, write, series, {}),
    "series impute": (TABLES, write, series, {}),
    "sources": (TABLES, write, concentrations, {}),
    "signatures": ((".tsv",), write_channels, lambda it: it.mutations.values, {}),
    "network": (
        (".csv", ".npz", ".graphml", ".gexf", ".net"),
        write_edges,
        lambda it: it.network.out.toarray(),
        {},
    ),
    "text": ((".csv", ".jsonl", ".txt"), write_texts, lambda it: [*it.sources[0]], {}),
    "tensor": ((".npy", ".npz", ".parquet"), write_cube, rows, {}),
    "video": (
        (".npy", ".npz"),
        write_video,
        lambda it: [*as_frames(it.settings.opened(), grey=it.settings.grey)],
        {},
    ),
    "walk": ((*TABLES, ".npy"), write, lambda it: [*it._positions(0)], ENDS),
    "walk of states": (
        (".txt", ".npy"),
        write_states,
        lambda it: [*it._states(0)],
        {"states": True},
    ),
}
COMBINATIONS = [(verb, ending) for verb, (endings, *_) in VERBS.items() for ending in endings]


def outcome(verb, path, **option):
    """Return what a verb reads of a file, or the sentence with which it refuses it."""
    task = task_named(verb.removesuffix(" of states"))
    _, _, read, more = VERBS[verb]
    known = {each.name for each in fields(task.settings_type)}
    if verb == "sources":
        more = {"uncertainty": str(path)}
    if verb == "text":
        more = {".csv": {"column": "a"}, ".jsonl": {"field": "a"}, ".txt": {}}[path.suffix]
    if not option.keys() <= known:
        return None
    try:
        with np.printoptions(threshold=10_000, precision=17):
            settings = task.settings_type(inputs=(str(path),), **more, **option)
            return str(read(settings if read in (series, concentrations) else task(settings)))
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
    # Pictures alone are opened by "image", which has no option of reading.
    assert {verb.removesuffix(" of states") for verb in VERBS} | {"image"} == {*kinds_of_runs()}
    known = {each.name for kind in (series_reading, triple_reading) for each in fields(kind)}
    assert {*VALUES} == known | OF_ARRAYS
    assert {*CALLED.values()} <= {*VALUES}
