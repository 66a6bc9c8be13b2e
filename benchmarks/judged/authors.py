"""Texts of five authors: dictionaries with labels beside models that only predict.

``judged/authors.py`` writes ``results/labels-authors.json``. A text is the words that
follow words of a list, thinned to the length of the shortest text, in four draws. Each of the 25
is left out once. Every method has six settings, of which none is chosen.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import numpy as np
from benchmark_records import DATA, save
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from atomstream import SupervisedDictionary


def choices():
    """Return six settings of each method: how columns are prepared, and what makes a model."""
    firsts = ("passthrough", StandardScaler())
    return {
        "ridge on log shares": {
            f"penalty {a:g}": ("logs", RidgeClassifier(alpha=a))
            for a in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
        },
        "logistic regression on log shares": {
            f"C = {C:g}": ("logs", LogisticRegression(C=C, max_iter=3000))
            for C in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
        },
        "nearest neighbours": {
            f"{k}{' as they are' if first == 'passthrough' else ', scaled'}": (
                "roots",
                make_pipeline(first, KNeighborsClassifier(k)),
            )
            for first in firsts
            for k in (1, 3, 5)
        },
        "ours": {
            f"{n} atoms, weight {w:g}": (
                "roots",
                SupervisedDictionary(n, weight=w, random_state=0),
            )
            for n in (5, 10)
            for w in (0.0, 0.3, 1.0)
        },
    }


def authors(n_draws=4):
    """Return how many of 25 texts are given to their author in each draw, each left out once."""
    with np.load(DATA / "word_adjacency" / "wan_matrices.npz", allow_pickle=False) as file:
        counts = file["matrices"].sum(axis=2).astype(np.int64)
        y = np.unique(file["author"], return_inverse=True)[1]
    methods, least = choices(), int(counts.sum(axis=1).min())
    found = {method: {setting: [] for setting in made} for method, made in methods.items()}
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        texts = np.array(
            [rng.multivariate_hypergeometric(row, least, method="marginals") for row in counts]
        )
        logs = np.log(texts + 0.5) - np.log(texts + 0.5).mean(axis=1, keepdims=True)
        prepared = {"roots": np.sqrt(texts / least), "logs": logs}
        for method, made in methods.items():
            for setting, (columns, model) in made.items():
                X, right = prepared[columns], 0
                for out in range(len(y)):
                    rest = np.arange(len(y)) != out
                    right += model.fit(X[rest], y[rest]).predict(X[out : out + 1])[0] == y[out]
                found[method][setting].append(int(right))
    return found


if __name__ == "__main__":
    save("labels-authors", authors())
