"""Write the files of the commands in the README, from data that come with the libraries."""

import json
import shutil
import sys
from csv import DictReader, DictWriter
from pathlib import Path
from pydoc_data.topics import topics

import networkx as nx
import numpy as np
from matplotlib import cbook
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images

from atomstream import samplers


def photographs(folder: Path) -> None:
    """Copy two photographs of scikit-learn, and write one of them with noise."""
    (folder / "photographs").mkdir()
    found = load_sample_images()
    for path in found.filenames:
        shutil.copy(path, folder / "photographs")
    grey = found.images[0].mean(axis=2)
    noisy = grey + np.random.default_rng(0).normal(0, 25, grey.shape)
    Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(folder / "noisy.png")


def documents(folder: Path) -> None:
    """Write the paragraphs of Python's own manual."""
    parts = [part for text in topics.values() for part in text.split("\n\n")]
    lines = [json.dumps({"text": part}) for part in parts if len(part.split()) > 15]
    (folder / "manual.jsonl").write_text("\n".join(lines), encoding="utf-8")


def networks(folder: Path) -> None:
    """Write who meets whom in Les Miserables, and a walk through Zachary's karate club."""
    friends, club = nx.les_miserables_graph(), nx.karate_club_graph()
    nx.write_edgelist(friends, folder / "friends.txt", delimiter="\t", data=False)
    chain = samplers.RandomWalk(nx.to_numpy_array(club))
    walk, _ = chain.run(np.random.default_rng(0), np.array([0]), 20_000)
    np.savetxt(folder / "walk.txt", walk, fmt="%d")


def stocks(folder: Path) -> None:
    """Write prices at the first of each month, of which one in twenty is left out."""
    rng, names = np.random.default_rng(0), ["Date", "IBM", "AAPL", "MSFT", "XRX", "^GSPC", "^IXIC"]
    with (
        open(cbook.get_sample_data("Stocks.csv", asfileobj=False), encoding="utf-8") as source,
        open(folder / "stocks.csv", "w", encoding="utf-8", newline="") as target,
    ):
        source.readline()  # where the data are from
        table = DictWriter(target, names, extrasaction="ignore")
        table.writeheader()
        for row in DictReader(source):
            if row["IBM"] and row["Date"].endswith("-01"):
                gaps = {name: "" for name in names[1:] if rng.random() < 0.05}
                table.writerow(row | gaps)


def main(folder: Path) -> None:
    """Write them all."""
    folder.mkdir(exist_ok=True)
    photographs(folder)
    np.savez(folder / "digits.npz", X=load_digits().data)
    documents(folder)
    networks(folder)
    stocks(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
