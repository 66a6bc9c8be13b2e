"""Dictionaries that predict: accuracy and reconstruction beside models that only predict.

``judged/labels.py`` writes ``results/labels.json``: digits with ten atoms and breast
cancer with two (ten folds, three divisions), 100 labels of the digits, and counts of words of 20
newsgroups. ``error`` is the squared error of the rows nobody learned from over that of
scikit-learn's NMF of as many atoms, all coded exactly.

``judged/labels.py words`` writes ``results/labels-words.json``: the same documents in
two preparations, square roots of shares and tf-idf, with the settings of all methods chosen on a
quarter of the rows that they learn from, in three divisions.

The weight of the labels was chosen on the first division of digits and of cancer (`TUNED`), and
the two others are reported beside all three. Rivals have their settings from the same division, by
the same folds.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import sys
import time
import warnings

import numpy as np
from benchmark_records import save
from newsgroups import news, roots_of_shares, tfidf
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import NMF
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from atomstream import OnlineNMF, SupervisedDictionary

WEIGHTS = (0.0, 0.1, 0.3, 0.5, 1.0)
DIVISIONS = (0, 1, 2)
TUNED = 0  # the division that settings are chosen on


class Discriminants:
    """Partial least squares on indicators of the classes: the largest score is the class."""

    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, X, y):
        """Learn, and return the model."""
        self.classes = np.unique(y)
        indicators = (y[:, None] == self.classes).astype(float)
        self.model = PLSRegression(self.n_components).fit(X, indicators)
        return self

    def predict(self, X):
        """Return the class of each row."""
        return self.classes[self.model.predict(X).argmax(axis=1)]


def left(model, X):
    """Return the squared error of rows."""
    return 2 * float(model.losses(X).sum())


def plain_errors(X, y, n_atoms, division):
    """Return the squared errors that as many atoms of scikit-learn's NMF leave in each fold."""
    errors = []
    for train, test in folds(X, y, division):
        model = NMF(n_atoms, init="nndsvda", max_iter=1000, random_state=0).fit(X[train])
        atoms = model.components_
        atoms = atoms / np.maximum(np.linalg.norm(atoms, axis=1, keepdims=True), 1e-12)
        errors.append(left(OnlineNMF.from_components(atoms), X[test]))
    return errors


def folds(X, y, division, n_folds=10):
    """Yield rows to learn from and others."""
    cut = StratifiedKFold(n_folds, shuffle=True, random_state=division)
    yield from cut.split(np.zeros(len(y)), y)


def over_folds(X, y, make, division, plain=None):
    """Return accuracy, error over that of NMF, and seconds of the processor, for each fold."""
    found = []
    for fold, (train, test) in enumerate(folds(X, y, division)):
        begun = time.process_time()
        model = make(division).fit(X[train], y[train])
        spent = time.process_time() - begun
        right = float(np.mean(model.predict(X[test]) == y[test]))
        error = np.nan if plain is None else left(model, X[test]) / plain[fold]
        found.append((right, error, spent))
    return np.array(found)


def best_of(X, y, choices):
    """Return the choice that is right most often on the division that settings are chosen on."""
    return max(choices, key=lambda make: over_folds(X, y, make, TUNED)[:, 0].mean())


def summary(parts):
    """Return the mean over divisions, its spread over them, and that of the untuned ones."""
    means = np.array([part.mean(axis=0) for part in parts])
    rest = means[[place for place, division in enumerate(DIVISIONS) if division != TUNED]]
    found = {
        "accuracy": means[:, 0].mean(),
        "spread": means[:, 0].std(ddof=1),
        "untuned": rest[:, 0].mean(),
        "seconds": means[:, 2].mean(),
    }
    return found if np.isnan(means).any() else found | {"error": means[:, 1].mean()}


def rivals(n_classes):
    """Return models that only predict, each with the values among which one is chosen."""
    return {
        "logistic regression on all columns": [
            lambda _, C=C, first=first: make_pipeline(first, LogisticRegression(C=C, max_iter=3000))
            for C in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
            for first in (StandardScaler(), "passthrough")
        ],
        "partial least squares": [
            lambda _, n=n: Discriminants(n) for n in (2, n_classes, 20, 30) if n <= 30
        ],
        "linear discriminants": [
            lambda _, s=s: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s)
            for s in (None, 0.01, 0.1, "auto")
        ],
    }


class CodesThenLogistic:
    """Atoms without labels, and scikit-learn's logistic regression on their codes."""

    def __init__(self, n_atoms, C, seed):
        self.model = OnlineNMF(n_atoms, n_epochs=100, schedule="harmonic", random_state=seed)
        self.head = LogisticRegression(C=C, max_iter=3000)

    def fit(self, X, y):
        """Learn, and return the model."""
        codes = self.model.fit_transform(X)
        self.head.fit(codes[y != -1], y[y != -1])
        return self

    def predict(self, X):
        """Return the class of each row."""
        return self.head.predict(self.model.transform(X))

    def losses(self, X):
        """Return half the squared error of each row."""
        return self.model.losses(X)


def divided(X, y, n_atoms):
    """Return figures of ours by weight, and of rivals with what the first division chose."""
    found, plain = {}, [plain_errors(X, y, n_atoms, division) for division in DIVISIONS]
    for name, choices in rivals(len(np.unique(y))).items():
        best = best_of(X, y, choices)
        found[name] = summary([over_folds(X, y, best, division) for division in DIVISIONS])
    codes = [lambda seed, C=C: CodesThenLogistic(n_atoms, C, seed) for C in (0.1, 1.0, 10.0, 100.0)]
    made = {"codes without labels, then logistic regression": best_of(X, y, codes)}
    for weight in WEIGHTS:
        made[f"ours, weight {weight}"] = lambda seed, weight=weight: SupervisedDictionary(
            n_atoms, weight=weight, random_state=seed
        )
    for name, make in made.items():
        parts = [over_folds(X, y, make, division, plain[division]) for division in DIVISIONS]
        found[name] = summary(parts)
    return found | (published(X, y) if n_atoms == 2 else {})


def published(X, y):
    """Return the figures of the authors' package for binary labels, where it is installed."""
    try:
        from SMF import SMF_BCD
    except ImportError:
        return {}

    class Published:
        """Its filters; a score is a linear function of what they make of a row."""

        def fit(self, X, y):
            """Learn, and return the model."""
            told = [X.T, y[None].astype(float)]
            np.random.seed(0)  # noqa: NPY002 - its starts come from there
            model = SMF_BCD(X=told, X_test=told, n_components=2, xi=1.0)
            self.filters, self.head = model.fit(iter=100)["loading"]
            return self

        def predict(self, X):
            """Return the class of each row."""
            scores = self.head[:, 1:3] @ (self.filters.T @ X.T) + self.head[:, :1]
            return (scores[0] > 0).astype(int)

    parts = [over_folds(X, y, lambda _: Published(), division) for division in DIVISIONS]
    return {"SupervisedMF (filters)": summary(parts)}


def few_labels(n_labels=100, n_draws=6):
    """Return accuracies on digits of which few have labels, on the rows without: mean and spread.

    Settings are chosen on the first half of the draws, and the second half is reported.
    """
    X, y = load_digits(return_X_y=True)
    X, made = X / 16, {}
    for C in (0.1, 1.0, 10.0, 100.0):
        made[f"codes without labels, C = {C}"] = lambda s, C=C: CodesThenLogistic(10, C, s)
    for weight in (0.1, 0.3, 1.0):
        for held in (1e-3, 1e-2):
            made[f"ours, weight {weight}, shrinkage {held}"] = lambda s, w=weight, held=held: (
                SupervisedDictionary(10, weight=w, shrinkage=held, random_state=s)
            )
    for C in (0.1, 1.0, 10.0, 100.0):
        made[f"logistic regression on pixels, C = {C}"] = lambda _, C=C: OnLabelled(C)
    for gamma in (0.5, 1.0, 2.0):
        made[f"label spreading, gamma = {gamma}"] = lambda _, g=gamma: LabelSpreading(gamma=g)
    found = {}
    for name, make in made.items():
        right = []
        for draw in range(n_draws):
            order = np.random.default_rng(draw).permutation(len(y))
            told = np.full(len(y), -1)
            told[order[:n_labels]] = y[order[:n_labels]]
            model, hidden = make(draw).fit(X, told), order[n_labels:]
            right.append(float(np.mean(model.predict(X[hidden]) == y[hidden])))
        found[name] = right
    half, kept = n_draws // 2, {}
    for kind in ("label spreading", "logistic", "codes without", "ours"):
        own = {name: right for name, right in found.items() if name.startswith(kind)}
        name = max(own, key=lambda each: np.mean(own[each][:half]))
        kept[name] = {"accuracy": np.mean(own[name][half:]), "spread": np.std(own[name][half:])}
    return kept


class OnLabelled:
    """Logistic regression on the rows that have a label."""

    def __init__(self, C):
        self.model = LogisticRegression(C=C, max_iter=3000)

    def fit(self, X, y):
        """Learn, and return the model."""
        self.model.fit(X[y != -1], y[y != -1])
        return self

    def predict(self, X):
        """Return the class of each row."""
        return self.model.predict(X)


def words():
    """Return accuracies on newsgroups in two preparations, settings chosen on learned rows."""
    counts, y = news()
    made = {"logistic regression on all words": [], "codes without labels": []}
    made |= {f"ours, {kind} codes": [] for kind in ("nonnegative", "free")}
    for C in (1.0, 3.0, 10.0, 30.0):
        made["logistic regression on all words"].append(LogisticRegression(C=C, max_iter=3000))
    known = {"n_epochs": 30, "random_state": 0}
    for held in (0.003, 0.01):
        made["codes without labels"].append(
            SupervisedDictionary(20, weight=0.0, shrinkage=held, **known)
        )
        for ridge in (0.0, 0.3, 1.0):
            for kind, atoms in (("nonnegative", "nonnegative_ball"), ("free", "unit_ball")):
                own = {"ridge": ridge, "shrinkage": held, "codes": kind, "atoms": atoms}
                model = SupervisedDictionary(20, weight=3.0, **own, **known)
                made[f"ours, {kind} codes"].append(model)
    found = {}
    for name, prepare in {"square roots of shares": roots_of_shares, "tf-idf": tfidf}.items():
        parts = {method: [] for method in made}
        for division in DIVISIONS:
            order = np.random.default_rng(division).permutation(len(y))
            own, other = np.split(order, [len(y) * 2 // 3])
            inner, judged = np.split(own, [len(own) * 3 // 4])
            first, X = prepare(counts, inner), prepare(counts, own)
            for method, choices in made.items():
                right = [
                    m.fit(first[inner], y[inner]).score(first[judged], y[judged]) for m in choices
                ]
                begun = time.process_time()
                model = choices[int(np.argmax(right))].fit(X[own], y[own])
                spent = time.process_time() - begun
                error = left(model, X[other]) if hasattr(model, "losses") else np.nan
                error /= float((X[other] ** 2).sum())
                parts[method].append((model.score(X[other], y[other]), error, spent))
        found[name] = {
            method: {
                "accuracy": np.mean(rows, axis=0)[0],
                "spread": np.std(rows, axis=0, ddof=1)[0],
                "seconds": np.mean(rows, axis=0)[2],
                **({} if np.isnan(rows).any() else {"unexplained": np.mean(rows, axis=0)[1]}),
            }
            for method, rows in parts.items()
        }
    return found


def newsgroups():
    """Return accuracies on 20 newsgroups: shares of words to the square root, 20 atoms."""
    X, y = news()
    X = roots_of_shares(X, None)
    order = np.random.default_rng(0).permutation(len(y))
    own, other = order[: len(y) * 2 // 3], order[len(y) * 2 // 3 :]
    made = {
        f"logistic regression on all words, C = {C}": LogisticRegression(C=C, max_iter=3000)
        for C in (1.0, 10.0, 30.0)
    }
    for weight in (0.0, 0.3, 1.0, 3.0):
        made[f"ours, weight {weight}"] = SupervisedDictionary(
            20, weight=weight, n_epochs=30, random_state=0
        )
    found = {}
    for name, model in made.items():
        begun = time.process_time()
        model.fit(X[own], y[own])
        spent = time.process_time() - begun
        found[name] = {"accuracy": float(model.score(X[other], y[other])), "seconds": spent}
        if hasattr(model, "losses"):
            found[name]["error"] = left(model, X[other])
    plain = found["ours, weight 0.0"]["error"]
    for each in found.values():
        if "error" in each:
            each["error"] /= plain
    return found


def main():
    """Measure all of it, and save the record."""
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    found = {"digits, 10 atoms": divided(X / 16, y, 10)}
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    found["breast cancer, 2 atoms"] = divided(X, y, 2)
    found["100 labels of the digits"] = few_labels()
    found["20 newsgroups, 20 atoms"] = newsgroups()
    save("labels", found)


if __name__ == "__main__":
    if sys.argv[1:] == ["words"]:
        save("labels-words", words())
    else:
        main()
