"""Runs of networks that are stopped after every step, and what they need."""


def prepare(folder, monkeypatch):
    edges = [f"{i} {(i + step) % 30}" for i in range(30) for step in (1, 2, 7)]
    (folder / "edges.txt").write_text("\n".join(edges))


COMMANDS = {
    "network": ("network learn edges.txt --motif path:4 --atoms 4 --batches 5 --batch-size 40", 5),
    "network, all copies": (
        "network learn edges.txt --motif path:3 --chain all --atoms 3 --batches 4 --batch-size 90",
        4,
    ),
    "network, any motif": (
        "network learn edges.txt --motif cycle:3 --chain glauber --atoms 3 --batches 4 "
        "--batch-size 40",
        4,
    ),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
