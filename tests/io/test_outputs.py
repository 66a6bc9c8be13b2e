"""Texts from data in tables, on the screen and in threads."""

import csv
import threading

import numpy as np
import pytest

from atomstream.cli import main
from atomstream.exceptions import InputError
from atomstream.io.outputs import check_out, write_table

WILD = [
    "=1+1",
    "+a",
    "@x",
    "-b",
    "\x1b[31mred",
    "a\rb",
    "tab\t",
    "\x00",
    "\u202ereversed",
    "\x9b0m",
]
TAME = ["plain", "a,b", 'say "so"', "-1.5", "+3", "1e5", "ü", "雪", "x=1", ""]


def test_texts_of_tables_are_neither_computed_nor_unseen(tmp_path):
    write_table(tmp_path / "x.csv", WILD, [WILD, TAME, [1, -2.5, None]])
    text = (tmp_path / "x.csv").read_text(encoding="utf-8")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    names, wild, tame, numbers = csv.reader(text.splitlines())
    assert names == wild
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in wild)
    assert wild[0] == "'=1+1"
    assert wild[4] == "\\x1b[31mred"
    assert tame == TAME
    assert numbers == ["1", "-2.5", ""]


def test_names_of_columns_reach_the_screen_as_escapes(tmp_path, capsys):
    rows = np.random.default_rng(0).random((60, 2))
    table = "\n".join(["\x1b[31mred,=1+1", *(f"{a},{b}" for a, b in rows)])
    (tmp_path / "x.csv").write_text(table)
    assert (
        main(["learn", str(tmp_path / "x.csv"), "--atoms", "2", "--out", str(tmp_path / "r")]) == 0
    )
    assert main(["inspect", str(tmp_path / "r")]) == 0
    assert main(["learn", str(tmp_path / "\x1b[31m.csv"), "--out", str(tmp_path / "q")]) == 2
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "\\x1b[31m" in told.out


def test_a_link_to_itself_is_replaced_by_the_table_and_is_no_input(tmp_path):
    loop, other = tmp_path / "loop.csv", tmp_path / "other.csv"
    loop.symlink_to(loop.name)
    check_out(loop, other)
    with pytest.raises(InputError, match="is the input itself"):
        check_out(other, loop, other)
    write_table(loop, ["a"], [[1.0]])
    assert loop.read_text().split() == ["a", "1.0"]


@pytest.mark.slow
def test_the_command_line_works_in_a_thread(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((90, 4)))
    codes = []

    def work():
        run, once = str(tmp_path / "run"), ("--epochs", "1")
        codes.append(main(["learn", str(tmp_path / "x.npy"), "--atoms", "2", *once, "--out", run]))
        codes.append(main(["resume", run, "--epochs", "2"]))
        codes.extend(main([verb, run]) for verb in ("inspect", "report", "plot"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert codes == [0] * 5, capsys.readouterr().err
