"""Runs of texts that are stopped after every step, and what they need."""

import numpy as np


def prepare(folder, monkeypatch):
    words = ["cat", "dog", "horse", "mouse", "stock", "bond", "market", "trade", "goal", "match"]
    rng = np.random.default_rng(0)
    documents = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    (folder / "docs.txt").write_text("\n".join(documents))


COMMANDS = {
    "text": ("text topics docs.txt --topics 2 --batch-size 20 --epochs 2 --features 64", 6),
    "text, counted": (
        "text topics docs.txt --topics 2 --batch-size 25 --epochs 2 --vectorizer tfidf",
        4,
    ),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
