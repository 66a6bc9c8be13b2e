"""Bad input to every kind of run: one sentence on standard error, exit code 2, and nothing written.

Each kind has a function that prepares a folder, and a table: what is wrong, the command that is
given there, and what its sentence must say.
"""

import csv
import gzip
import os
import re

import networkx as nx
import numpy as np
import pytest
from commands import run
from numpy.random import default_rng

import atomstream
from atomstream.cli import main

# -- rows
# --------------------------------------------------------------------------------------------------


def rows(folder):
    from PIL import Image

    X = default_rng(0).random((300, 6)).round(4)
    np.save(folder / "x.npy", X)
    np.save(folder / "wide.npy", np.ones((9, 7)))
    np.save(folder / "flat.npy", np.ones(9))
    np.save(folder / "none.npy", np.ones((0, 6)))
    np.save(folder / "text.npy", np.array([["a", "b"]]))
    np.save(folder / "holes.npy", np.where(X < 0.1, np.nan, X))
    np.save(folder / "infinite.npy", np.where(X < 0.1, np.inf, X))
    np.save(folder / "negative.npy", -X)
    np.savez(folder / "two.npz", a=X, b=X)
    (folder / "text.csv").write_text("a,city\n1,Oslo\n2,Rom\n")
    (folder / "late.csv").write_text("a,b\n" + "1,2\n" * 40_000 + "3,x\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (folder / "empty.csv").write_text("")
    (folder / "head.csv").write_text("a,b\n")
    (folder / "other.csv").write_text("a,b,c,d,e,g\n1,2,3,4,5,6\n")
    (folder / "named.csv").write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n")
    (folder / "x.docx").write_text("")
    (folder / "bad.png").write_text("no picture")
    (folder / "bad.parquet").write_bytes(b"PAR1")
    (folder / "bad.toml").write_text("atoms = [")
    (folder / "odd.toml").write_text("atom = 3")
    (folder / "typed.toml").write_text('atoms = "3"')
    (folder / "pickle.atoms").write_bytes(b"\x80\x04K\x01.")
    (folder / "nothing").mkdir()
    (folder / "pictures").mkdir()
    pixels = (X[:30] * 255).astype(np.uint8).repeat(5, axis=1)
    Image.fromarray(pixels).save(folder / "pictures/p.png")
    run("learn", folder / "x.npy", "--atoms", 3, "--out", folder / "run")
    run("learn", folder / "named.csv", "--atoms", 2, "--holdout", 0, "--out", folder / "named")
    run("learn", folder / "pictures", "--atoms", 3, "--patch", 4, "--out", folder / "seen")


ROWS = {
    "no input": ("learn --out new", "No input was given"),
    "no such file": ("learn gone.npy --out new", "There is no .*gone.npy"),
    "unknown ending": ("learn x.docx --out new", "has an ending that is not known"),
    "empty folder": ("learn nothing --out new", "holds no images"),
    "images with tables": ("learn pictures x.npy --out new", "cannot be learned together"),
    "standard input and more": ("learn - x.npy --out new", "cannot be combined with other inputs"),
    "one axis": ("learn flat.npy --out new", r"has shape \(9,\), needed is"),
    "no rows": ("learn none.npy --out new", "is empty"),
    "texts in an array": ("learn text.npy --out new", "holds <U1, needed are numbers"),
    "two tables": ("learn two.npz --out new", r"has 2 arrays \(a, b\); choose one with --key"),
    "no such table": ("learn two.npz --key c --out new", "has no array called 'c'; it has a, b"),
    "column of texts": ("learn text.csv --out new", "column 'city' is not numeric .*'Oslo'"),
    "text far down": (
        "learn late.csv --out new",
        "Line 40002 of .*late.csv .row 40000, counted from 0. has 'x' in column 'b'",
    ),
    "ragged lines": (
        "learn ragged.csv --out new",
        "Line 3 of .*ragged.csv .row 1, counted from 0. has 1 field, expected 2 columns",
    ),
    "empty file": ("learn empty.csv --out new", "has no lines"),
    "header only": ("learn head.csv --out new", "has a header and no rows"),
    "no such column": (
        "learn named.csv --columns z --out new",
        "has no column 'z'; it has 6: 'a', 'b'",
    ),
    "other width": ("learn x.npy wide.npy --out new", "has 7 columns and .* has 6"),
    "other names": ("learn named.csv other.csv --out new", "different names of columns"),
    "missing entries": ("learn holes.npy --out new", "contains NaN .*--missing"),
    "infinity": ("learn infinite.npy --missing --out new", "contains infinity"),
    "negative": (
        "learn negative.npy --out new",
        "Negative values.* use --model dictionary or --on-bad-line skip",
    ),
    "damaged image": ("learn bad.png --out new", "bad.png cannot be read"),
    "damaged parquet": ("learn bad.parquet --out new", "bad.parquet cannot be read"),
    "large patch": ("learn pictures --patch 99 --out new", "smaller than a patch of 99"),
    "no atoms": ("learn x.npy --atoms 0 --out new", "atoms is 0, needed is a whole number from 1"),
    "atoms no number": ("learn x.npy --atoms many --out new", "'many' is not a valid integer"),
    "negative alpha": (
        "learn x.npy --alpha -1 --out new",
        "alpha is -1.0, needed is a number from 0",
    ),
    "unknown loss": (
        "learn x.npy --loss lost --out new",
        "loss='lost' is unknown; choose one of hellinger, huber, is, kl",
    ),
    "unknown schedule": (
        "learn x.npy --schedule s --out new",
        "schedule='s' is unknown; choose one of",
    ),
    "two schedules": (
        "learn x.npy --schedule harmonic --half-life 9 --out new",
        "exclude each other",
    ),
    "unknown model": (
        "learn x.npy --model m --out new",
        "model is 'm', needed is one of nmf, dictionary",
    ),
    "holdout of all": ("learn x.npy --holdout 1 --out new", "needed is a number from 0, below 1"),
    "no time": (
        "learn x.npy --max-time soon --out new",
        "'soon' is not a duration; use e.g. 90s, 10m or 2h",
    ),
    "broken config": ("learn x.npy --config bad.toml --out new", "bad.toml cannot be read as TOML"),
    "unknown setting": (
        "learn x.npy --config odd.toml --out new",
        "sets 'atom', which is no setting",
    ),
    "setting of another type": (
        "learn x.npy --config typed.toml --out new",
        "atoms is '3', needed is a whole number",
    ),
    "no config": ("learn x.npy --config gone.toml --out new", "gone.toml cannot be read"),
    "run there already": ("learn x.npy --out run", "holds a run already"),
    "out is a file": ("learn x.npy --out x.npy", "cannot be written to"),
    "no out": ("learn x.npy", "Missing option '--out'"),
    "unknown option": ("learn x.npy --colour --out new", "No such option.*--colour"),
    "unknown command": ("forget run", "No such command 'forget'"),
    "no run": ("resume nothing", "holds no run"),
    "fewer passes": ("resume run --epochs 0", "epochs is 0"),
    "codes of what": (
        "encode run x.npy --out codes.xls",
        "must end in one of .parquet, .csv, .npz",
    ),
    "codes of other width": ("encode run wide.npy --out c.csv", "has 7 columns, run has learned 6"),
    "codes of holes": ("encode run holes.npy --out c.csv", "contains NaN"),
    "codes over the input": ("encode run x.npy --out x.npy", "must end in one of"),
    "codes over the table": ("encode named named.csv --out named.csv", "is the input itself"),
    "codes of other columns": (
        "encode named other.csv --out c.csv",
        "different names of columns .*missing is 'f' and unexpected is 'g'",
    ),
    "codes to nowhere": ("encode run x.npy --out gone/c.csv", "its folder is missing"),
    "picture as text": (
        "reconstruct seen pictures/p.png --out p.txt",
        "does not end like an image that can be written",
    ),
    "endless half-life": ("learn x.npy --half-life inf --out new", "half_life is inf"),
    "too many patches": (
        "learn x.npy --per-image 99999999999999999999 --out new",
        "needed is a whole number from 1 to",
    ),
    "a pickle": (
        "inspect pickle.atoms",
        "pickle.atoms is no saved model of atomstream, nor a run: it is another kind of file.$",
    ),
    "an empty model": (
        "inspect empty.csv",
        "empty.csv is no saved model .*, nor a run: it is empty.$",
    ),
    "inspect what is not there": ("inspect gone", "There is no gone.$"),
    "encode with what is not there": ("encode gone x.npy --out c.csv", "There is no gone.$"),
    "rebuild without images": (
        "reconstruct run pictures/p.png",
        "is no run that has learned from images",
    ),
    "rebuild nothing": ("reconstruct seen gone.png", "There is no gone.png"),
    "wide stride": (
        "reconstruct seen pictures/p.png --stride 9",
        "--stride is 9, needed is at most",
    ),
}


# -- networks
# --------------------------------------------------------------------------------------------------


def networks(folder):
    graph = nx.planted_partition_graph(3, 10, 0.6, 0.1, seed=0)
    lines = [f"{u} {v}" for u, v in graph.edges]
    (folder / "edges.txt").write_text("\n".join(lines))
    (folder / "named.csv").write_text("\n".join(line.replace(" ", ",") for line in lines))
    (folder / "torn.txt").write_text("a b\nc\n")
    (folder / "empty.txt").write_text("# nothing\n")
    (folder / "bad.gml").write_text("graph [")
    (folder / "none.gml").write_text("graph [ ]")
    (folder / "bad.npz").write_bytes(b"PK")
    (folder / "few.txt").write_text("a b\n")
    (folder / "comma.txt").write_text("a;b;0,5\n")
    nx.write_gml(nx.Graph([(0, 1, {"w": 2})]), folder / "graph.gml")
    (folder / "torn.txt.gz").write_bytes(gzip.compress(b"a b\n" * 1000)[:-12])
    np.save(folder / "x.npy", default_rng(0).random((30, 4)))
    run("learn", folder / "x.npy", "--atoms", 2, "--out", folder / "rows")
    few = ("--motif", "path:5", "--atoms", 3, "--batches", 2, "--batch-size", 20)
    run("network", "learn", folder / "edges.txt", *few, "--out", folder / "run")
    (folder / "soon.txt").write_text("\n".join(lines))
    run("network", "learn", folder / "soon.txt", *few, "--out", folder / "edited")
    (folder / "soon.txt").write_text("\n".join([*lines, "x y"]))


NETWORKS = {
    "no such file": ("network learn gone.txt --out new", "There is no .*gone.txt"),
    "no file": ("network learn --out new", "one file of edges, got 0"),
    "a line that is no edge": (
        "network learn torn.txt --out new",
        "torn.txt, line 2: 'c' is not an edge",
    ),
    "no edges": ("network learn empty.txt --out new", "empty.txt: .*no edges"),
    "a broken graph": ("network learn bad.gml --out new", "bad.gml cannot be read .NetworkXError"),
    "a broken matrix": (
        "network learn bad.npz --out new",
        "bad.npz cannot be read",
    ),
    "unknown motif": (
        "network learn edges.txt --motif ring:4 --out new",
        "motif='ring:4' is unknown; give",
    ),
    "large motif": (
        "network learn few.txt --out new",
        "motif has 21 nodes, more than the network, which has 2; choose a smaller motif, such as",
    ),
    "other delimiter": (
        "network learn named.csv --delimiter : --out new",
        "named.csv, line 1: '.*' is not an edge.*--delimiter",
    ),
    "long delimiter": ("network learn edges.txt --delimiter :: --out new", "needed is one sign"),
    "decimal commas": (
        "network learn comma.txt --out new",
        "comma.txt, line 1: the weight '0,5' .*--decimal ,",
    ),
    "no such decimal": ("network learn edges.txt --decimal x --out new", "decimal is 'x'"),
    "no such weight": (
        "network learn graph.gml --weight cost --out new",
        "graph.gml have no 'cost'; they have 'w'",
    ),
    "no tree": (
        "network learn edges.txt --motif cycle:3 --out new",
        "a tree; for others use the Glauber chain",
    ),
    "unknown chain": ("network learn edges.txt --chain fast --out new", "chain='fast' is unknown"),
    "no atoms": (
        "network learn edges.txt --atoms 0 --out new",
        "atoms is 0, needed is a whole number from 1",
    ),
    "unknown schedule": (
        "network learn edges.txt --schedule s --out new",
        "schedule='s' is unknown",
    ),
    "run there already": ("network learn edges.txt --out run", "holds a run already"),
    "epochs": (
        "resume run --epochs 3",
        "--epochs is for other kinds of runs; run continues with --batches",
    ),
    "batches": (
        "resume rows --batches 3",
        "--batches is for other kinds of runs; rows continues with --epochs",
    ),
    "rows": ("network reconstruct rows", "no run that has learned from a network"),
    "codes": ("encode run x.npy --out c.csv", "has learned from a network"),
    "no network": ("reconstruct run x.npy", "x.npy holds zero bytes, needed are lines"),
    "over the input": ("network denoise run named.csv --out named.csv", "is the input itself"),
    "a truncated archive": ("network learn torn.txt.gz --out new", "torn.txt.gz cannot be read"),
    "a graph without nodes": ("network learn none.gml --out new", "no edges"),
    "settings of rows": (
        "network learn --config rows/run.toml --out new",
        "sets 'na', which is no setting",
    ),
    "settings of a network": (
        "learn --config run/run.toml --out new",
        "sets the domain 'network', which is not that of atomstream learn",
    ),
    "an edited network": ("network reconstruct edited", "has changed since the run began"),
    "other ending": ("network reconstruct run --out r.xls", "must end in .csv or .npz"),
    "other pairs": ("network denoise run --pairs all", "'all' is not one of"),
}


# -- texts
# --------------------------------------------------------------------------------------------------


def texts(folder):
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


TEXTS = {
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


# -- walks
# --------------------------------------------------------------------------------------------------


def walks(folder):
    places = np.column_stack([-70 + default_rng(0).random(500), -33 + default_rng(1).random(500)])
    trips = np.hstack([places, places[::-1]])
    np.save(folder / "trips.npy", trips)
    np.save(folder / "far.npy", trips)
    np.savetxt(
        folder / "trips.csv", trips, delimiter=",", header="a_lon,a_lat,b_lon,b_lat", comments=""
    )
    walk = np.cumsum(default_rng(0).integers(-1, 2, 1000)) % 12
    (folder / "walk.txt").write_text("\n".join(f"room {state}" for state in walk))
    (folder / "empty.txt").write_text("\n")
    (folder / "one.txt").write_text("a\n")
    np.save(folder / "floats.npy", np.ones(5))
    (folder / "none.npy").write_bytes(b"")
    settings = ("--states", "--rank", 3, "--clusters", 2)
    run("walk", "partition", folder / "walk.txt", *settings, "--out", folder / "run")


WALKS = {
    "no such file": (
        "walk partition gone.csv --origin a,b --destination c,d --out new",
        "There is no .*gone.csv",
    ),
    "no file": ("walk partition --states --out new", "one file, got 0"),
    "no origin": (
        "walk partition trips.csv --destination c,d --out new",
        "Trips need --origin LON,LAT, two columns; the states of a walk need --states",
    ),
    "one column": (
        "walk partition trips.csv --origin a --destination c,d --out new",
        "Trips need --origin LON,LAT, two columns; the states of a walk need --states",
    ),
    "no such column": (
        "walk partition trips.csv --origin x,y --destination a_lon,a_lat --out new",
        "no column 'x'",
    ),
    "no such number": (
        "walk partition trips.npy --origin 1,9 --destination 1,2 --out new",
        "from 1 to 4, got '9'",
    ),
    "too scattered": (
        "walk partition far.npy --origin 1,2 --destination 3,4 --cell 10m --out new",
        "0 cells 20 times or more; choose larger cells",
    ),
    "no length": (
        "walk partition trips.npy --cell wide --out new",
        "'wide' is not a length; use e.g. 250m or 1.5km",
    ),
    "states with columns": (
        "walk partition walk.txt --states --origin a,b --out new",
        "no --origin or --destination",
    ),
    "no states": ("walk partition empty.txt --states --out new", "holds no states"),
    "an empty array": ("walk partition none.npy --states --out new", "none.npy cannot be read"),
    "one state": (
        "walk partition one.txt --states --rank 1 --clusters 1 --out new",
        "no transition",
    ),
    "a column twice": (
        "walk partition trips.npy --origin 1,1 --destination 3,4 --out new",
        "one column twice",
    ),
    "states of fractions": (
        "walk partition floats.npy --states --out new",
        "needed is .* whole numbers",
    ),
    "more clusters than states": (
        "walk partition walk.txt --states --clusters 99 --rank 3 --out new",
        "n_clusters must be",
    ),
    "more dimensions than states": (
        "walk partition walk.txt --states --rank 50 --out new",
        "n_components=50 is more",
    ),
    "run there already": ("walk partition walk.txt --states --out run", "holds a run already"),
}


# -- series
# --------------------------------------------------------------------------------------------------

NAMES = ["Nord, 1", "Sud", "Ost"]


def waves(n=150):
    t = np.arange(n)[:, None]
    return np.round(50 + 20 * np.sin(t / 4 + np.arange(3)) + default_rng(0).random((n, 3)), 3)


def days(n=150):
    return (np.datetime64("2021-01-01") + np.arange(n)).astype(str).tolist()


def write(path, values, labels):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["day", *NAMES])
        for label, row in zip(labels, values.tolist(), strict=True):
            writer.writerow([label, *("" if value != value else value for value in row)])


def series(folder):
    write(folder / "whole.csv", waves(), days())
    write(folder / "negative.csv", waves(60) - 60, days(60))
    tail, never, late = waves(60), waves(60), waves(60)
    tail[-5:], never[:, 1], late[:24, 1] = np.nan, np.nan, np.nan
    for name, values in (("tail.csv", tail), ("never.csv", never), ("late.csv", late)):
        write(folder / name, values, days(60))
    write(folder / "twice.csv", waves(60), [*days(59), days(59)[-1]])
    write(folder / "gap.csv", waves(60), [*days(59), "2022-01-01"])
    write(folder / "back.csv", waves(60), days(60)[::-1])
    write(folder / "dates.csv", waves(60), [f"{i}/1/2020" for i in range(60)])
    write(folder / "months.csv", waves(3), ["2020-11", "2020-12", "2020-13"])
    write(folder / "few.csv", waves(5), days(5))
    write(folder / "one.csv", waves(1), days(1))
    (folder / "torn.csv").write_text("day,a\n2020-01-01,1\n2020-01-02\n")
    (folder / "text.csv").write_text("day,a\n2020-01-01,1\n2020-01-02,x\n")
    (folder / "empty.csv").write_text("day,a\n")
    (folder / "times.csv").write_text("day\n2020-01-01\n2020-01-02\n")
    (folder / "bad.csv.gz").write_bytes(b"no")
    settings = ("--window", 6, "--atoms", 3)
    run("series", "forecast", folder / "whole.csv", *settings, "--out", folder / "run")
    run("series", "impute", folder / "whole.csv", *settings, "--out", folder / "filled")


SERIES = {
    "forecast negative.csv no-center": (
        "series forecast negative.csv --no-center --out new",
        "is -9.363 at 2021-01-01: series forecast needs values of at least 0 with --scale or",
    ),
    "forecast negative.csv log": (
        "series forecast negative.csv --log --out new",
        "is -9.363 at 2021-01-01: --log needs values above -1",
    ),
    "forecast negative.csv scale": (
        "series forecast negative.csv --scale --out new",
        "with --scale or --no-center; leave it out, or add a constant",
    ),
    "forecast tail.csv window 6": (
        "series forecast tail.csv --window 6 --out new",
        "The last 5 rows of .*tail.csv are empty",
    ),
    "forecast never.csv": (
        "series forecast never.csv --out new",
        "Series 'Sud' of .*never.csv has no value; leave it out with --columns",
    ),
    "forecast late.csv window 6 scale": (
        "series forecast late.csv --window 6 --scale --out new",
        "no value in the first 24 rows, by which --scale goes; take more",
    ),
    "forecast few.csv window 6 init-rows 5": (
        "series forecast few.csv --window 6 --init-rows 5 --out new",
        "init_rows is 5, needed is at least the window, 6",
    ),
    "forecast twice.csv": (
        "series forecast twice.csv --out new",
        "2021-02-28 \\(row 59, counted from 0\\) comes twice",
    ),
    "forecast gap.csv": (
        "series forecast gap.csv --out new",
        "evenly spaced: 2022-01-01 comes after 2021-02-28",
    ),
    "forecast back.csv": ("series forecast back.csv --out new", "must go forward"),
    "forecast dates.csv time day": (
        "series forecast dates.csv --time day --out new",
        "holds '0/1/2020', needed are dates such as",
    ),
    "forecast dates.csv": (
        "series forecast dates.csv --out new",
        "holds '0/1/2020', needed are dates such as",
    ),
    "forecast months.csv": (
        "series forecast months.csv --out new",
        "holds '2020-13', needed are dates",
    ),
    "forecast few.csv window 6": (
        "series forecast few.csv --window 6 --out new",
        "has 5 rows, needed are 24: give more, or choose a smaller --window or --init-rows",
    ),
    "forecast one.csv": ("series forecast one.csv --out new", "has 1 row, needed are 48"),
    "forecast torn.csv": (
        "series forecast torn.csv --out new",
        "Line 3 of .*torn.csv .row 1, counted from 0. has 1 field, expected 2 columns",
    ),
    "forecast text.csv": (
        "series forecast text.csv --out new",
        "Line 3 of .*text.csv .row 1, counted from 0. has 'x' in column 'a'",
    ),
    "forecast empty.csv": ("series forecast empty.csv --out new", "has a header and no rows"),
    "forecast times.csv": (
        "series forecast times.csv --out new",
        "no column of numbers beside those that name rows",
    ),
    "forecast bad.csv.gz": ("series forecast bad.csv.gz --out new", "cannot be read"),
    "forecast none.csv": ("series forecast none.csv --out new", "There is no"),
    "forecast gap.csv columns z": (
        "series forecast gap.csv --columns z --out new",
        "has no column 'z'",
    ),
    "forecast gap.csv window 1": (
        "series forecast gap.csv --window 1 --out new",
        "window is 1, needed is a whole number from 2",
    ),
    "forecast gap.csv coverage 1": (
        "series forecast gap.csv --coverage 1 --out new",
        "coverage is 1.0, needed is a number above 0, below 1",
    ),
    "forecast gap.csv horizon 0": (
        "series forecast gap.csv --horizon 0 --out new",
        "horizon is 0, needed is a whole number from 1",
    ),
    "forecast gap.csv weight 2": (
        "series forecast gap.csv --weight 2 --out new",
        "Constant needs weight to be a number above 0, at most 1 or None",
    ),
    "forecast gap.csv memory 3": (
        "series forecast gap.csv --memory 3 --out new",
        "memory must be a whole number of at least 12",
    ),
    "forecast gap.csv config filled/run.toml": (
        "series forecast gap.csv --config filled/run.toml --out new",
        "sets the domain 'series impute', which is not that of",
    ),
    "impute negative.csv no-scale no-center": (
        "series impute negative.csv --no-scale --no-center --out new",
        "series impute needs values of at least 0; --scale and --center shift series",
    ),
    "impute negative.csv log": (
        "series impute negative.csv --log --out new",
        "--log needs values above -1",
    ),
    "impute never.csv": (
        "series impute never.csv --out new",
        "has no value; leave it out with --columns",
    ),
    "impute few.csv": (
        "series impute few.csv --out new",
        "has 5 rows, needed are 12: give more, or choose a smaller --window.",
    ),
    "forecast whole.csv run": ("series forecast whole.csv --out run", "holds a run already"),
    "impute": ("series impute --out new", "one file, got 0"),
    "resume run epochs 2": ("resume run --epochs 2", "--epochs is for other kinds of runs"),
    "encode run whole.csv c.npz": ("encode run whole.csv --out c.npz", "has learned from series"),
}


# -- images
# --------------------------------------------------------------------------------------------------


def pictures(folder):
    from PIL import Image

    y, x = np.mgrid[:50, :60]
    values = 0.5 + 0.2 * np.sin(y / 4) * np.cos(x / 5) + 0.2 * ((y + x) % 23 > 11)
    grey = np.rint(255 * values).astype(np.uint8)
    Image.fromarray(grey).save(folder / "grey.png")
    Image.fromarray(np.dstack([grey, grey // 2, grey // 3])).save(folder / "color.png")
    Image.fromarray(np.zeros((9, 9), np.uint8)).save(folder / "small.png")
    Image.fromarray(np.full((50, 60), 255, np.uint8)).save(folder / "white.png")
    model = atomstream.ImageDictionary(16, 6, n_patches=1000, random_state=0).fit(grey)
    atomstream.save(model, folder / "model.atoms")
    atomstream.save(atomstream.OnlineNMF(2), folder / "fresh.atoms")
    atomstream.save(atomstream.OnlineNMF(2, random_state=0).fit(grey / 255), folder / "other.atoms")


IMAGE = {
    "no such file": ("image denoise none.png --out o.png", "There is no file"),
    "over the input": ("image denoise grey.png --out grey.png", "is the input itself"),
    "another ending": ("image denoise grey.png --out o.xyz", "does not end like an image"),
    "a large patch": ("image denoise grey.png --out o.png --patch 70", "smaller than a patch"),
    "negative noise": (
        "image denoise grey.png --out o.png --sigma -1",
        "Invalid value for '--sigma'",
    ),
    "no image": ("image denoise model.atoms --out o.png", "model.atoms"),
    "a model of rows": (
        "image denoise grey.png --out o.png --model other.atoms",
        "has learned from rows; needed is a dictionary of image patches",
    ),
    "a model without atoms": (
        "image denoise grey.png --out o.png --model fresh.atoms",
        "holds a model that has not learned anything",
    ),
    "no model": ("image denoise grey.png --out o.png --model grey.png", "no saved model"),
    "other channels": (
        "image denoise color.png --out o.png --model model.atoms",
        "has learned patches of shape",
    ),
    "a small mask": ("image inpaint grey.png --mask small.png --out o.png", "they must agree"),
    "a mask of all": ("image inpaint grey.png --mask white.png --out o.png", "no observed pixel"),
    "no such folder": ("image denoise grey.png --out nowhere/o.png", "its folder is missing"),
}


# -- tensors
# --------------------------------------------------------------------------------------------------


def tensors(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    import xarray as xr
    import zarr

    X = default_rng(0).random((40, 7, 9))
    X[default_rng(1).random(X.shape) < 1 / 3] = 0
    labels = {"day": ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"], "hour": np.arange(9)}
    data = xr.Dataset({"trips": (("date", "day", "hour"), X)}, labels)
    data.to_netcdf(folder / "x.nc", engine="scipy")
    np.save(folder / "x.npy", X)
    np.save(folder / "moved.npy", np.moveaxis(X, 0, 1))
    np.savez(folder / "two.npz", x=X, y=2 * X)
    zarr.save(str(folder / "two.zarr"), x=X, y=2 * X)
    n, i, j = np.nonzero(X)
    columns = {"date": n, "day": [labels["day"][k] for k in i], "hour": j}
    pq.write_table(pa.table({"trips": X[n, i, j], **columns}), folder / "x.parquet")
    few = ("--atoms", 3, "--batch-size", 16)
    run("tensor", "learn", folder / "x.nc", *few, "--out", folder / "run")
    for name in ("empty.npy", "empty.nc", "empty.parquet", "x.txt"):
        (folder / name).touch()
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:500])
    holes = X.copy()
    holes[30, 1, 1] = np.nan
    for name, array in {"nan": holes, "flat": X[0], "none": X[:0]}.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "texts.npy", X.astype(str))
    outside = {"coords": np.array([[0], [0], [9]]), "data": np.ones(1), "shape": np.full(3, 2)}
    np.savez(folder / "outside.npz", **outside)
    np.savez(folder / "fill.npz", **outside, fill_value=1.0)
    pq.write_table(pa.table({"a": [1, 2], "v": [1.0, 2.0]}), folder / "two.parquet")
    holes = {"a": [1, None], "b": [1, 2], "c": [1, 2], "v": [1.0, 2.0]}
    pq.write_table(pa.table(holes), folder / "holes.parquet")
    strange = {"date": [0, 1], "day": ["Mo", "Sunday"], "hour": [1, 2], "trips": [1.0, 2.0]}
    pq.write_table(pa.table(strange), folder / "strange.parquet")


TENSORS = {
    "no file": ("tensor learn --out new", "learned from one file, got 0"),
    "no such file": ("tensor learn gone.npy --out new", "There is no .*gone.npy"),
    "an empty file": ("tensor learn empty.npy --out new", "empty.npy cannot be read"),
    "an empty NetCDF": ("tensor learn empty.nc --out new", "empty.nc is no NetCDF file"),
    "an empty table": ("tensor learn empty.parquet --out new", "empty.parquet cannot be read"),
    "a cut file": ("tensor learn cut.npy --out new", "cut.npy cannot be read"),
    "another ending": ("tensor learn x.txt --out new", "ends like no tensor; known endings are"),
    "a table": ("tensor learn flat.npy --out new", r"has shape \(7, 9\), needed are three axes"),
    "no samples": ("tensor learn none.npy --out new", "none.npy is empty"),
    "texts": ("tensor learn texts.npy --out new", "needed are numbers"),
    "NaN": ("tensor learn nan.npy --out new", "NaN .first in sample 30 of .*say --missing"),
    "two arrays": ("tensor learn two.npz --out new", "choose one with --key"),
    "no such array": ("tensor learn two.zarr --key z --out new", "no array called 'z'; it has x"),
    "an entry outside": ("tensor learn outside.npz --out new", r"entry at \(0, 0, 9\), outside"),
    "another fill value": ("tensor learn fill.npz --out new", "entries of 1.0 that it does not"),
    "few columns": ("tensor learn two.parquet --out new", "has the columns a, v; needed are one"),
    "labels missing": ("tensor learn holes.parquet --out new", "Column 'a' .*has empty fields"),
    "no such column": ("tensor learn x.parquet --columns a,b --out new", "has no column 'a'"),
    "columns of arrays": ("tensor learn x.npy --columns a --out new", "columns of Parquet files"),
    "no such axis": ("tensor learn x.npy --axis 3 --out new", "no axis '3'; choose 0 to 2"),
    "no such name": ("tensor learn x.nc --axis town --out new", "0 to 2 or date, day, hour"),
    "a bad radius": ("tensor learn x.npy --radius far --out new", "radius is 'far', needed is"),
    "no radius": ("tensor learn x.npy --radius 0 --out new", "radius is '0', needed is"),
    "no atoms": (
        "tensor learn x.npy --atoms 0 --out new",
        "atoms is 0, needed is a whole number from 1",
    ),
    "other samples": ("encode run moved.npy --out c.csv", r"samples of shape \(40, 9\), run has"),
    "NaN in codes": ("encode run nan.npy --out c.csv", "first in sample 30 .*fill such entries.$"),
    "strange labels": ("encode run strange.parquet --out c.csv", "'day' .*not learned: Sunday"),
    "a picture": ("reconstruct run x.npy", "has learned from a tensor and rebuilds no files"),
}


# -- videos
# --------------------------------------------------------------------------------------------------


def videos(folder):
    from PIL import Image

    frames = default_rng(0).integers(0, 256, (40, 10, 13), np.uint8)
    np.save(folder / "v.npy", frames)
    np.savez(folder / "two.npz", v=frames, w=frames[:20])
    first, *rest = map(Image.fromarray, frames)
    first.save(folder / "v.gif", save_all=True, append_images=rest)
    few = ("--atoms", 3, "--batch-size", 4)
    run("video", "learn", folder / "v.npy", *few, "--out", folder / "frames")
    run("video", "learn", folder / "v.npy", "--mode", "pixels", *few, "--out", folder / "pixels")
    for name in ("empty.npy", "empty.gif", "x.txt"):
        (folder / name).touch()
    for name in ("none", "one", "odd"):
        (folder / name).mkdir()
    Image.fromarray(frames[0]).save(folder / "one/a.png")
    Image.fromarray(frames[0]).save(folder / "odd/a.png")
    Image.fromarray(frames[0].T).save(folder / "odd/b.png")
    holes = frames / 255
    holes[30, 2, 2] = np.nan
    shapes = {"flat": frames[0], "single": frames[:1], "five": np.ones((3, 2, 2, 3, 1))}
    for name, array in ({"nan": holes, "signed": holes[:30] - 1} | shapes).items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "texts.npy", frames.astype(str))
    (folder / "cut.gif").write_bytes((folder / "v.gif").read_bytes()[:900])


VIDEOS = {
    "no video": ("video learn --out new", "learned from one file or folder, got 0"),
    "no such file": ("video learn gone --out new", "There is no .*gone"),
    "no images": ("video learn none --out new", "none holds no images"),
    "one frame": ("video learn one --out new", "one has 1 frame, needed are at least 2"),
    "one frame of an array": ("video learn single.npy --out new", "single.npy has 1 frame"),
    "odd frames": ("video learn odd --out new", r"Frame 1 has shape \(13, 10\), the first"),
    "odd pixels": ("video learn odd --mode pixels --out new", "Frame 1 of .*odd is of shape"),
    "an empty array": ("video learn empty.npy --out new", "empty.npy cannot be read"),
    "an empty stack": ("video learn empty.gif --out new", "empty.gif cannot be read"),
    "a cut stack": ("video learn cut.gif --out new", "cut.gif cannot be read"),
    "another ending": ("video learn x.txt --out new", "ends like no video; known are folders"),
    "a picture": ("video learn flat.npy --out new", r"has shape \(10, 13\), needed is"),
    "five axes": ("video learn five.npy --out new", r"\(3, 2, 2, 3, 1\), needed is"),
    "texts": ("video learn texts.npy --out new", "needed are numbers"),
    "NaN": (
        "video learn nan.npy --out new",
        "NaN .first in frame 30, counted from 0.; VideoDictionary needs",
    ),
    "NaN in a pixel": ("video learn nan.npy --mode pixels --out new", "in the course of a pixel"),
    "negative values": (
        "video learn signed.npy --out new",
        "needed is 0 or more; say --no-nonnegative; to find cells .*, clip them at 0.$",
    ),
    "two arrays": ("video learn two.npz --out new", "choose one with --key"),
    "a word": ("video learn v.npy --snapshots a --out new", "snapshots holds 'a', needed are"),
    "frame 0": ("video learn v.npy --snapshots 0 --out new", "at least 1, got"),
    "no frames": ("video learn v.npy --snapshots 3 --mode pixels --out new", "snapshots need"),
    "passes": ("video learn v.npy --epochs 3 --out new", "epochs is 3, but frames come once"),
    "as many passes as pixels have": (
        "video learn v.npy --epochs 10 --out new",
        "epochs is 10, but frames come once",
    ),
    "more passes": ("resume frames --epochs 20", "epochs is 20, but frames come once"),
    "another mode": ("video learn v.npy --mode rows --out new", "needed is frames or pixels"),
    "other frames": ("encode frames odd --out c.csv", r"odd: Frame 1 has shape \(13, 10\)"),
    "other video": ("encode pixels two.npz --out c.csv", "choose one with --key"),
    "shorter video": ("encode pixels one --out c.csv", "has 1 frame, the model has learned 40"),
    "an image": ("reconstruct frames v.npy", "has learned from a video and rebuilds no files"),
}


# -- the one test
# --------------------------------------------------------------------------------------------------

TABLES = {
    rows: ROWS,
    networks: NETWORKS,
    texts: TEXTS,
    walks: WALKS,
    series: SERIES,
    pictures: IMAGE,
    tensors: TENSORS,
    videos: VIDEOS,
}
CASES = [
    pytest.param(prepare, line, sentence, id=f"{prepare.__name__}: {what}")
    for prepare, table in TABLES.items()
    for what, (line, sentence) in table.items()
]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """What gives the folder of a kind, prepared when it is first asked for."""
    folders = {}

    def folder(prepare):
        if prepare not in folders:
            folders[prepare] = tmp_path_factory.mktemp(prepare.__name__)
            prepare(folders[prepare])
        return folders[prepare]

    return folder


@pytest.mark.parametrize(("prepare", "line", "sentence"), CASES)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    prepared, prepare, line, sentence, capsys, monkeypatch
):
    monkeypatch.chdir(prepared(prepare))
    capsys.readouterr()
    before = sorted(os.listdir())
    assert main(line.split()) == 2
    told = capsys.readouterr()
    lines = told.err.strip().splitlines()
    errors = [line for line in lines if not line.startswith("Warning: ")]
    assert told.out == ""
    assert len(errors) == 1, told.err
    assert errors[0].startswith("Error: ")
    assert re.search(sentence, errors[0]), errors[0]
    assert sorted(os.listdir()) == before, "a refused run leaves nothing"


SIZES = {
    "rows": 62,
    "networks": 31,
    "texts": 26,
    "walks": 17,
    "series": 36,
    "pictures": 13,
    "tensors": 28,
    "videos": 29,
}


def test_no_kind_of_bad_input_drops_out():
    assert {prepare.__name__: len(table) for prepare, table in TABLES.items()} == SIZES
