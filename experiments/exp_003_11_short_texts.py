"""Experiment 003-11, short texts: a tensor in place of the thesis's Twitter tensor.

Strohmeier (2023), section 4.7, decomposes 90 times x 5,000 words x 1,000 tweets. The tweets cannot
be had (no stored copy, and their terms forbid one). In their place stand the sentences of "The
Adventures of Sherlock Holmes" (public domain): short texts too, in the order of time, with topics,
the twelve stories, that come and go. The order of the sentences is cut into 90 times, of which the
first 64 sentences each are kept; words occur in ten sentences at least, English stop words are left
out, and tf-idf gives each sentence length one. It is a tenth of the size, one author and no
hashtags: what is compared are algorithms on a sparse tensor of texts, not what Twitter spoke about.

The race is that of `exp_003_10_ncpd_race`: R = 5, the same contenders, three starts. Leaves
``results/003-11.png`` and ``results/003-11.json``.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter

import numpy as np
from exp_003_10_ncpd_race import COLOURS, online, race
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, load, save
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from tensor_data import tfidf
from threadpoolctl import threadpool_limits

N_TIMES, N_SENTENCES, LEAST, N_RUNS = 90, 64, 10, 3


def sentences() -> list[set[str]]:
    """Return the words of each sentence of at least three words, in their order."""
    path = DATA / "word_adjacency/sherlock_holmes.txt.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    parts = re.split(r"[.!?;:]\W*\s+", text.lower())
    found = [set(re.findall(r"[a-z']{2,}", part)) - ENGLISH_STOP_WORDS for part in parts]
    return [words for words in found if len(words) >= 3]


def tensor() -> np.ndarray:
    """Return sentences x times x words; the sentences of all times stream by together."""
    texts = sentences()
    edges = np.linspace(0, len(texts), N_TIMES + 1).astype(int)
    kept = [texts[start : start + N_SENTENCES] for start in edges[:-1]]
    seen = Counter(word for time in kept for text in time for word in text)
    words = {word: place for place, word in enumerate(w for w in sorted(seen) if seen[w] >= LEAST)}
    counts = np.zeros((N_SENTENCES, N_TIMES, len(words)))
    for time, some in enumerate(kept):
        for number, text in enumerate(some):
            counts[number, time, [words[word] for word in text if word in words]] = 1
    return tfidf(counts)


def draw(found: dict) -> Figure:
    """Draw error above the best against time; sweeps that take nearly one time are a point."""
    best = min(min(entry["line"]["low"]) for entry in found.values())
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    for label, colour in COLOURS.items():
        entry = found.get(label) or found.get(f"{label}, c' 10")
        if entry is None:
            continue
        seconds, mean = (np.array(entry["line"][key]) for key in ("seconds", "mean"))
        above, short = np.maximum(100 * (mean / best - 1), 1e-3), seconds[-1] < 1.1 * seconds[0]
        shown = slice(-1, None) if short else slice(None)
        marker = "D" if short else None
        axes.loglog(seconds[shown], above[shown], color=colour, label=label, marker=marker)
    axes.set(xlabel="CPU seconds", ylabel=f"% above the best error, {best:.4f}")
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def main() -> None:
    """Race, draw, write the numbers; with ``--draw`` draw the numbers that were written."""
    if "--draw" in sys.argv:
        save_figure(draw(load("003-11")["results"]["methods"]), "003-11", 90)
        return
    X = tensor()
    with threadpool_limits(1):
        online(X, 0)  # loads what would count as time
        found = race(X, N_RUNS)
    save_figure(draw(found), "003-11", 90)
    shares = {"shape": X.shape, "share of entries": float((X > 0).mean())}
    save("003-11", shares | {"norm": float(np.linalg.norm(X)), "runs": N_RUNS, "methods": found})


if __name__ == "__main__":
    main()
