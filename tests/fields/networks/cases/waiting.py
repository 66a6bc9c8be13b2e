"""Commands on networks that work for much longer than a test waits."""

from functools import cache

from atomstream.cli import main


@cache
def learned(folder):
    """Write edges, and learn from them."""
    (folder / "edges.txt").write_text("\n".join(f"{i} {i * i % 500}" for i in range(2, 500)))
    network = ["network", "learn", str(folder / "edges.txt"), "--motif", "path:6", "--atoms", "9"]
    assert main([*network, "--batches", "3", "--out", str(folder / "network")]) == 0


CASES = {
    "network reconstruct": {
        "command": "network reconstruct network --steps 100000000 --out out.csv",
        "prepare": learned,
    },
    "network denoise": {
        "command": "network denoise network --steps 100000000 --out out.csv",
        "prepare": learned,
    },
}
