"""Bad input to runs of networks: what is wrong, the command, and what is said of it."""

import gzip

import networkx as nx
import numpy as np
from commands import run
from numpy.random import default_rng


def prepare(folder):
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


BAD = {
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

assert len(BAD) == 31
CASES = {"networks": (prepare, BAD)}
