"""What tests of figures in the documentation read from the records."""

from importlib import import_module

import pages  # noqa: F401 - knows where the scripts lie

benchmarks, experiments = import_module("benchmark_records"), import_module("records")

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS += ("eleven", "twelve", "thirteen", "fourteen")


def results(name):
    """Return what a record of a benchmark holds."""
    return benchmarks.load(name)["results"]


def trials(name):
    """Return what a record of an experiment holds."""
    return experiments.load(name)["results"]


def per_cent(values, below=1.0):
    """Return the least and the greatest of ratios, as per cent above or below one, rounded."""
    return [f"{100 * abs(value - below):.0f}" for value in (min(values), max(values))]


def slower_at_hand(part):
    """Return on how many tables that fit in memory ours takes longer than NMF, of how many."""
    tables = results(f"at-hand-{part}").values()
    longer = sum(table["ours"]["seconds"] > table["NMF"]["seconds"] for table in tables)
    return f"{longer} of {len(tables)}"


def passes_over_a_file():
    """Return the least and the most seconds of a pass over a tensor of 4 GB."""
    big = results("tensors")["big"]
    return [
        big[name]["one learning pass, s"] for name in ("from the system's cache", "from the disk")
    ]


def first_calls():
    """Return the seconds of the first fit of two models."""
    found = results("first-use")["estimators"]
    return [found[name]["fit"][0] for name in ("digits, 10 atoms", "convex")]
