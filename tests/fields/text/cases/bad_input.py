"""Bad input to runs of texts: what is wrong, the command, and what is said of it."""

import numpy as np
from commands import run
from numpy.random import default_rng


def prepare(folder):
    (folder / "lines.txt").write_text("cat dog horse\nstock bond market\n" * 20)
    (folder / "table.csv").write_text("id,body\n1,cat dog\n2,stock bond\n")
    (folder / "hole.jsonl").write_text('{"text": "cat"}\n{"text": " "}\n')
    (folder / "other.jsonl").write_text('{"text": "cat"}\n{"title": "cat"}\n')
    (folder / "torn.jsonl").write_text('{"text": "cat"}\n{"te\n')
    (folder / "short.csv").write_text("id,body\n1,cat\n2\n")
    (folder / "empty.csv").write_text("")
    (folder / "blank.txt").write_text("\n \n")
    (folder / "stops.txt").write_text("the of\nand\n")
    (folder / "latin.txt").write_bytes("caf\u00e9\n".encode("latin-1"))
    (folder / "none").mkdir()
    np.save(folder / "x.npy", default_rng(0).random((30, 4)))
    run("learn", folder / "x.npy", "--atoms", 2, "--out", folder / "rows")
    run("text", "topics", folder / "lines.txt", "--topics", 2, "--out", folder / "run")
    (folder / "soon.txt").write_text("cat dog\n" * 9)
    run("text", "topics", folder / "soon.txt", "--topics", 1, "--out", folder / "edited")
    (folder / "soon.txt").write_text("cat dog\n" * 10)


BAD = {
    "no such file": ("text topics gone.txt --out new", "There is no .*gone.txt"),
    "no file": ("text topics --out new", "No documents were given"),
    "another ending": (
        "text topics x.npy --out new",
        "x.npy has an ending that is not known for documents",
    ),
    "a folder without": ("text topics none --out new", "none holds no text files"),
    "an empty document": (
        "text topics hole.jsonl --out new",
        "hole.jsonl, line 2: the document is empty",
    ),
    "another field": (
        "text topics other.jsonl --out new",
        "line 2: no text in the field 'text'; fields are title",
    ),
    "no JSON": ("text topics torn.jsonl --out new", "torn.jsonl, line 2: not valid JSON"),
    "a short row": (
        "text topics short.csv --column body --out new",
        "short.csv, line 3: the document is empty",
    ),
    "two columns": (
        "text topics table.csv --out new",
        "has 2 columns; choose one with --column: id, body",
    ),
    "no column": (
        "text topics table.csv --column c --out new",
        "has no column 'c'; it has 2: 'id', 'body'",
    ),
    "an empty table": ("text topics empty.csv --column a --out new", "empty.csv has no lines"),
    "blank lines": ("text topics blank.txt --out new", "There are no documents"),
    "a blank file": (
        "text topics blank.txt --per file --out new",
        "blank.txt, whole file: the document is empty",
    ),
    "stop words": (
        "text topics stops.txt --vectorizer counts --out new",
        "No word of the 2 documents is left",
    ),
    "no UTF-8": (
        "text topics latin.txt --encoding utf-8 --out new",
        "latin.txt is not utf-8 .*give another --encoding",
    ),
    "unknown vectorizer": (
        "text topics lines.txt --vectorizer v --out new",
        "vectorizer is .* needed is one of counts, hashing, tfidf",
    ),
    "unknown per": (
        "text topics lines.txt --per word --out new",
        "per is 'word', needed is one of line, paragraph, file",
    ),
    "stop words of another": (
        "text topics lines.txt --stop-words de --out new",
        "stop_words is 'de', needed is english, none, words such as english,mr,said",
    ),
    "no topics": (
        "text topics lines.txt --topics 0 --out new",
        "topics is 0, needed is a whole number from 1",
    ),
    "run there already": ("text topics lines.txt --out run", "holds a run already"),
    "batches": (
        "resume run --batches 3",
        "--batches is for other kinds of runs; run continues with --epochs",
    ),
    "codes": (
        "encode run x.npy --out c.csv",
        "x.npy has an ending that is not known for documents",
    ),
    "a picture": ("reconstruct run x.npy", "has learned from texts"),
    "an edited file": ("resume edited", "has changed since the run began"),
    "settings of rows": (
        "text topics --config rows/run.toml --out new",
        "sets 'decimal', which is no setting",
    ),
    "settings of texts": (
        "learn --config run/run.toml --out new",
        "sets the domain 'text', which is not that of atomstream learn",
    ),
}

assert len(BAD) == 26
CASES = {"texts": (prepare, BAD)}
