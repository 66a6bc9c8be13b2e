"""Bad input to runs of series: what is wrong, the command, and what is said of it."""

import csv

import numpy as np
from commands import run
from numpy.random import default_rng

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


def prepare(folder):
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


BAD = {
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

assert len(BAD) == 36
CASES = {"series": (prepare, BAD)}
