"""What runs of networks do without optional libraries."""


def prepare(folder):
    (folder / "edges.txt").write_text("".join(f"{i} {j}\n" for i in range(7) for j in range(i)))
    (folder / "graph.gml").write_text("graph [ ]")


SMALL = "--motif path:3 --atoms 2 --batches 5 --batch-size 50"
CASES = {
    "network": {
        "prepare": prepare,
        "works": [
            f"network learn @edges.txt {SMALL} --out @network",
            "network denoise @network --steps 500",
            "network reconstruct @network --steps 500",
        ],
        "asks": [
            "network learn @graph.gml --motif path:3 --atoms 2 --out @graph",
            "report @network",
        ],
    },
}
