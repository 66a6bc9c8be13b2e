"""Runs of series that are stopped after every step, and what they need."""

from stopped_runs import TABLE, write


def prepare(folder, monkeypatch):
    write(folder / "series.csv", TABLE[:80])


COMMANDS = {
    "series forecast": (
        "series forecast series.csv --window 6 --atoms 4 --horizon 3 --log --scale --average 2",
        10,
    ),
    "series impute": ("series impute gaps.csv --window 6 --atoms 4", 8),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
