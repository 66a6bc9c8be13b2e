"""Counts of words of 20 newsgroups, and two ways to prepare them."""

import numpy as np
import scipy.sparse as sp
from benchmark_records import DATA
from sklearn.feature_extraction.text import TfidfTransformer


def news():
    """Return counts of words of 20 newsgroups, and the group of each document."""
    with np.load(DATA / "news20" / "news20_train_counts_w1000.npz", allow_pickle=False) as file:
        parts = file["data"].astype(float), file["indices"], file["indptr"]
        return sp.csr_array(parts, shape=tuple(file["shape"])), file["label"].ravel()


def roots_of_shares(X, _):
    """Return the square roots of the shares of words."""
    total = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1)
    return sp.csr_array(sp.diags_array(1.0 / total) @ X).sqrt()


def tfidf(X, own):
    """Return tf-idf with logarithms of counts; in how many documents a word is, own rows say."""
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit(X[own]).transform(X))
