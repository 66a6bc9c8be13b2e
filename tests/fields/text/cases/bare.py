"""What runs of texts do without optional libraries."""


def prepare(folder):
    (folder / "texts.txt").write_text("river flows through valleys\nvalleys gather rain\n" * 20)


CASES = {
    "text": {
        "prepare": prepare,
        "works": ["text topics @texts.txt --topics 2 --out @topics"],
        "asks": [],
    },
}
