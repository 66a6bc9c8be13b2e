"""Nonnegative tensors that the experiments decompose, the mode whose slices stream by first."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
from records import DATA
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

TRUE_RANK = 50


def synthetic_tensor(size: int = 100) -> np.ndarray:
    """Return 0.01 Out(V1, V2, V3), uniform V of 50 columns; norm 62.61 (thesis, section 4.7)."""
    first, second, third = (np.random.RandomState(seed).rand(size, TRUE_RANK) for seed in (1, 2, 3))
    return np.einsum("ir,jr,kr->kij", 0.01 * first, second, third, optimize=True)


def news_tensor() -> np.ndarray:
    """Return 26 x 40 time slices x 1000 terms of 20 Newsgroups: tf-idf, documents of length one."""
    with np.load(DATA / "news20/news20_dynamic_40x1000x26.npz") as stored:
        counts = stored["counts"].astype(float)
    return tfidf(counts.transpose(2, 0, 1))


def headlines_tensor(per_day: int = 120, least: int = 10) -> np.ndarray:
    """Return headlines x days x words of the ABC headlines, tf-idf, each headline of length one.

    The first 120 headlines of each of the 48 days in their order of publication (one day has 119:
    its last slice is zero); words, English stop words left out, that occur in at least 10 of the
    headlines kept. A headline's number within its day means nothing, as in the published tensor,
    where headlines of a month are drawn at random.
    """
    days: dict[str, list[set[str]]] = {}
    with gzip.open(DATA / "headlines/abc_headlines_2003.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            days.setdefault(row["publish_date"], []).append(
                set(row["headline_text"].split()) - ENGLISH_STOP_WORDS
            )
    kept = [days[day][:per_day] for day in sorted(days)]
    seen = Counter(word for day in kept for headline in day for word in headline)
    words = {
        word: place for place, word in enumerate(sorted(w for w, n in seen.items() if n >= least))
    }
    counts = np.zeros((per_day, len(kept), len(words)))
    for day, headlines in enumerate(kept):
        for number, headline in enumerate(headlines):
            counts[number, day, [words[word] for word in headline if word in words]] = 1
    return tfidf(counts)


def tensor_on_disk(path: Path, shape: tuple[int, int, int]) -> np.memmap:
    """Write a synthetic float32 tensor to a file, slice by slice; return its memory map."""
    first, second, third = (
        np.random.RandomState(seed).rand(n, TRUE_RANK) for seed, n in enumerate(shape, start=1)
    )
    inner = np.einsum("jr,kr->rjk", second, third).reshape(TRUE_RANK, -1).astype(np.float32)
    written = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for start in range(0, len(first), 50):
        rows = (0.01 * first[start : start + 50]).astype(np.float32) @ inner
        written[start : start + 50] = rows.reshape(-1, *shape[1:])
    written.flush()
    del written
    return np.load(path, mmap_mode="r")


def tfidf(counts: np.ndarray) -> np.ndarray:
    """Weigh terms (last axis) by their rarity in documents (other axes), of length one or zero."""
    n_documents = counts.shape[0] * counts.shape[1]
    rarity = np.log((1 + n_documents) / (1 + (counts > 0).sum(axis=(0, 1)))) + 1
    weighted = counts * rarity
    return weighted / np.maximum(np.linalg.norm(weighted, axis=2, keepdims=True), 1e-12)
