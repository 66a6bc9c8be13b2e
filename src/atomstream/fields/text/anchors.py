"""Topics that begin with words given for them, and documents that hold them there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import of_sum_one
from atomstream.fields.text.vocabulary import Vocabulary
from atomstream.penalties import Simplex
from atomstream.problem import Batch
from atomstream.updates.majorise import Majorise
from atomstream.updates.reseeding import starting_atoms


def anchor_rows(vocabulary: Vocabulary, anchors: Mapping[str, Sequence[str]]) -> sp.csr_array:
    """Return a document of the words of each anchor, as counts whose sum is one.

    Raises
    ------
    ValueError
        Where the vocabulary has none of the words of an anchor.
    """
    # A hash counts words that have not come yet.
    count = vocabulary.count if vocabulary.kind == "hashing" else vocabulary.count_known
    rows = count([" ".join(words) for words in anchors.values()])
    sums = np.asarray(rows.sum(axis=1)).ravel()
    for name, size in zip(anchors, sums, strict=True):
        if not size:
            raise ValueError(f"The vocabulary has none of the words of the anchor {name!r}.")
    return sp.csr_array(sp.diags_array(1 / sums) @ rows)


def anchored_settings(
    counts: sp.csr_array, rows: sp.csr_array, n_components: int, seed: int, hard: bool
) -> dict[str, Any]:
    """Return how topics with anchors are learned: from their start, and never begun anew."""
    places, features = rows.nonzero()
    owners = [*zip(features.tolist(), places.tolist(), strict=True)] if hard else []
    # A topic that is given a new start would lose its anchor to another one.
    updater = Majorise(patience=math.inf, owners=tuple(owners))
    return {"init": anchored_start(counts, rows, n_components, seed), "updater": updater}


def anchored_start(
    counts: sp.csr_array, rows: sp.csr_array, n_components: int, seed: int
) -> NDArray:
    """Return topics to begin with: the first are their anchors and the documents that have them.

    Each of the two counts half; where no document has a word of an anchor, the anchor is all.
    """
    near = of_sum_one((rows @ counts.T @ counts).toarray())
    first = of_sum_one(rows.toarray() + near)
    first = 0.99 * first + 0.01 * of_sum_one(np.asarray(counts.sum(axis=0)).reshape(1, -1))
    n_others, rng = n_components - len(first), np.random.default_rng(seed)
    if not n_others:
        return first
    others = starting_atoms(Batch(counts), n_others, "svd", Simplex(), rng, soft=True)
    return np.concatenate([first, others])
