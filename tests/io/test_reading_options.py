"""Options of tables: the same in every verb, used or refused, and told where they were guessed."""

import json
import logging
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from cases import of_fields
from commands import refused, run
from layouts import ABC, LAYOUTS, X, table, with_names

import atomstream
from atomstream.exceptions import InputError
from atomstream.io import InputOptions, TableOptions, open_inputs
from atomstream.io.inputs import CALLED
from atomstream.runs import kinds_of_runs
from atomstream.runs.reading import table_reading
from atomstream.runs.task import task_named

OPTIONS = {
    "columns": ("a", "b"),
    "drop": ("c",),
    "index": "a",
    "header": "yes",
    "delimiter": ",",
    "decimal": ",",
    "thousands": "'",
    "comment": "#",
    "skip_lines": "9-9",
    "encoding": "utf-8",
    "missing": ("-99",),
    "below_limit": "half",
    "on_bad_line": "skip",
}
TEXT_ALONE = {"header", "delimiter", "comment", "skip_lines", "encoding"}
OF_TEXTS = {*TEXT_ALONE, "decimal", "thousands", "below_limit"}  # strings in lines of JSON too
UNUSED = {  # which options a format does not use
    ".csv": set(),
    ".jsonl": TEXT_ALONE,
    ".parquet": OF_TEXTS,
    ".npy": {*OPTIONS} - {"on_bad_line"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import pandas as pd

    folder = tmp_path_factory.mktemp("formats")
    frame = pd.DataFrame(X, columns=ABC)
    (folder / "x.csv").write_bytes(table("a;b;c", sign=";"))
    frame.to_json(folder / "x.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "x.parquet")
    np.save(folder / "x.npy", X)
    return folder


def test_all_options_are_listed_here():
    assert {*OPTIONS, "where_used"} == {each.name for each in fields(TableOptions)}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("ending", UNUSED)
def test_an_option_is_used_or_refused(folder, ending, option):
    options = InputOptions(**{option: OPTIONS[option]})
    flag = CALLED.get(option, option).replace("_", "-")
    if option in UNUSED[ending]:
        with pytest.raises(InputError, match=rf"--{flag} .*tables.* is not (a table|one)\.$"):
            open_inputs([str(folder / f"x{ending}")], options)
        return
    if option in ("decimal", "delimiter") and ending == ".csv":  # it is written otherwise
        with pytest.raises(InputError, match=r"not numeric|is not a number|has '0\.512'"):
            open_inputs([str(folder / f"x{ending}")], options)
        return
    open_inputs([str(folder / f"x{ending}")], options)


# Of each kind of run the group of options, and commands that have it; none of what reads arrays
# and pictures alone.
READERS = {"": (table_reading, ["learn"]), **of_fields("table_options")}


def test_every_kind_of_run_that_reads_tables_has_their_options():
    assert {*READERS} == {*kinds_of_runs()}
    for name, (group, _) in READERS.items():
        assert group is None or issubclass(task_named(name).settings_type, group), name


@pytest.mark.parametrize(
    ("words", "flags"),
    [(words, group) for group, commands in READERS.values() for words in commands],
)
def test_options_are_on_the_command_line(capsys, words, flags):
    run(*words.split(), "--help")
    said = capsys.readouterr().out
    for each in fields(flags):
        assert f"--{each.name.replace('_', '-')} " in said


# -- guesses


def lines(n=60):
    rng = np.random.default_rng(0)
    rows = [
        [str(i), *(f"{value:.3f}" for value in row)] for i, row in enumerate(rng.random((n, 3)))
    ]
    return table(",0,1,2", rows=rows)


def test_guesses_are_told_on_standard_error_in_json_in_the_log_and_to_python(
    tmp_path, capsys, caplog
):
    path = tmp_path / "x.csv"
    path.write_bytes(lines())
    words = ["learn", path, "--atoms", 2, "--epochs", 1, "--out"]
    run(*words, tmp_path / "run")
    told = capsys.readouterr()
    whole = "first line taken as names, though they are numbers; column '' taken as row names."
    assert f"{path}: {whole}" in told.err.splitlines()
    run(*words, tmp_path / "json", "--json")
    found = json.loads(capsys.readouterr().out)["guesses"]
    assert {*found[str(path)]} == {"header", "index"}
    events = map(json.loads, (tmp_path / "run/log.jsonl").read_text().splitlines())
    assert [e["inputs"] for e in events if e["event"] == "guesses"] == [found]
    with caplog.at_level(logging.INFO, "atomstream.io.source"):
        source = open_inputs([str(path)])[0]
    told = [each.getMessage() for each in caplog.records if each.name == "atomstream.io.source"]
    assert told == [f"{path}: {whole}"]
    assert source.guesses["header"][0] == "yes"


def test_a_guess_can_be_overruled(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_bytes(table("400,450,500"))
    words = ["learn", path, "--atoms", 1, "--epochs", 1, "--holdout", 0, "--json", "--out"]
    for options, n_rows in (((), 6), (("--header", "no"), 7), (("--header", "yes"), 6)):
        folder = tmp_path / f"run{'-'.join(options)}"
        run(*words, folder, *options)
        facts = json.loads(capsys.readouterr().out)
        assert facts["samples"] == n_rows
        assert ("guesses" in facts) == (not options)


# -- layouts in verbs

NUMERIC = [name for name, layout in LAYOUTS.items() if not name.startswith("dates")]


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMERIC)
def test_learn_and_encode_find_the_rows_of_a_layout(tmp_path, capsys, name):
    layout = LAYOUTS[name]
    path = tmp_path / f"x{layout.ending}"
    path.write_bytes(layout.data)
    options = []
    for option, value in dict(layout.options).items():
        flag = f"--{CALLED.get(option, option).replace('_', '-')}"
        for each in [value] if isinstance(value, str) else value:
            options += [flag, each]
    words = ["learn", path, "--model", "dictionary", "--missing", "--atoms", 1, "--epochs", 1]
    words += ["--holdout", 0, *options, "--out", tmp_path / "run"]
    if layout.sentence:
        assert len(refused(capsys, *words)) < 1000
        assert not (tmp_path / "run").exists()
        return
    run(*words)
    model = atomstream.load(tmp_path / "run")
    assert model.n_samples_seen_ == len(layout.rows)
    assert model.n_features_in_ == layout.rows.shape[1]
    run("encode", tmp_path / "run", path, "--out", tmp_path / "codes.csv")
    assert len(np.genfromtxt(tmp_path / "codes.csv", delimiter=",")[1:]) >= len(layout.rows)


# -- what is loaded, and how often it is called


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["--help"], ["learn", "--help"], ["learn", "x.npy"], ["learn", "x.csv"]]
)
def test_pandas_is_loaded_where_a_table_needs_it(folder, tmp_path, words):
    """Arrays, pictures and help do not; tables do not where Arrow converts them."""
    words = [str(folder / word) if word.startswith("x.") else word for word in words]
    if "--help" not in words:
        words += ["--atoms", "1", "--epochs", "1", "--holdout", "0", "--out", str(tmp_path / "run")]
    code = f"import sys; from atomstream.cli import main; assert main({words!r}) == 0\n"
    code += "print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_long_table_is_opened_without_a_call_for_each_row(tmp_path):
    rng = np.random.default_rng(0)
    rows = [[f"{value:.4f}" for value in row] for row in rng.random((20_000, 12))]
    names = ",".join(f"f{i}" for i in range(12))
    (tmp_path / "x.csv").write_bytes(table(names, rows=rows))
    (tmp_path / "named.csv").write_bytes(table(f",{names}", rows=with_names(range(20_000), rows)))
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        calls += event == "call" and "atomstream" in frame.f_code.co_filename

    for name in ("x.csv", "named.csv"):
        calls = 0
        sys.setprofile(count)
        try:
            n_rows = sum(len(b.X) for b in open_inputs([str(tmp_path / name)])[0].blocks(0, 0))
        finally:
            sys.setprofile(None)
        assert n_rows == 20_000
        assert calls <= 500


def test_an_unknown_value_is_refused_with_the_known_ones(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_bytes(table("a,b,c"))
    for option, value, said in (
        ("--header", "maybe", "needed is one of auto, yes, no"),
        ("--delimiter", "ab", "needed is one sign"),
        ("--encoding", "utf-9", "is not known"),
        ("--skip-lines", "x", "lines counted from 1"),
        ("--thousands", ".", "must differ"),
        ("--below-limit", "tenth", "one of half, zero, limit, missing"),
    ):
        told = refused(capsys, "learn", path, option, value, "--out", tmp_path / "run")
        assert said in told


@pytest.mark.parametrize("engine", [(), ("--engine", "threads")], ids=["alone", "engine"])
def test_a_quoted_pattern_stands_for_files(tmp_path, capsys, monkeypatch, engine):
    (tmp_path / "part").mkdir()
    for number, rows in enumerate(np.split(np.random.default_rng(0).random((90, 3)), 3)):
        np.save(tmp_path / f"part/{number}.npy", rows)
    # A file whose name looks like a pattern is itself.
    np.save(tmp_path / "part/[3].npy", np.ones((5, 3)))
    monkeypatch.chdir(tmp_path)
    found = []
    for pattern, n_rows in (("part/[0-9].npy", 90), ("part/[[]3].npy", 5), ("part/[3].npy", 5)):
        words = ("--atoms", 1, "--epochs", 1, "--holdout", 0, *engine, "--json")
        run("learn", pattern, *words, "--out", f"run{len(found)}")
        found.append(json.loads(capsys.readouterr().out)["samples"])
        assert found[-1] == n_rows
    run("resume", "run0", "--epochs", 2)
    run("encode", "run0", "part/[0-9].npy", "--out", "codes.csv")
    assert len((tmp_path / "codes.csv").read_text().splitlines()) == 91
    assert "There is no" in refused(capsys, "learn", "part/*.csv", *engine, "--out", "none")
