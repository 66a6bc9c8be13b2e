"""Runs of sources that are stopped after every step, and what they need."""

from stopped_runs import TABLE, write


def prepare(folder, monkeypatch):
    hours = [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00" for i in range(120)]
    write(folder / "species.csv", TABLE + 2, ("date", hours))
    write(folder / "errors.csv", 0.1 * TABLE + 0.1, ("date", hours))


COMMANDS = {
    "sources": (
        "sources species.csv --uncertainty errors.csv --factors 2-3 --starts 1 --bootstraps 1",
        3,
    ),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
