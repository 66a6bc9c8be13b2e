"""Calls of functions of rows and of atoms, of streams, and of what plots draw."""

import numpy as np
from doors_of_models import learned, model
from given import ATOMS, CODES, HOLED_GRAPH, IMAGE, ROW, TABLE, TENSOR, WEIGHTS, WHOLE, P

import atomstream
from atomstream import diagnostics, streams
from atomstream.base import checked_array
from atomstream.callbacks import History
from atomstream.looks import plots
from atomstream.losses import Mahalanobis


def history_of(held_out):
    history = History(held_out=held_out)
    model("OnlineNMF").set_callbacks(history).fit(WHOLE)
    return history.points["held_out"]


def rows_of(stream):
    return np.concatenate([checked_array(batch, dtype=float) for batch in stream])


CASES = {
    "diagnostics.lumpability(counts)": (
        HOLED_GRAPH,
        lambda X: diagnostics.lumpability(X, np.arange(6) % 2),
    ),
    "diagnostics.mcmc_diagnostics(values)": (
        WEIGHTS + np.arange(14),
        lambda X: diagnostics.mcmc_diagnostics(X).autocorrelation_time,
    ),
    "align(model_a)": (ATOMS, lambda X: atomstream.align(X, WHOLE[:2]).similarity),
    "align(model_b)": (ATOMS, lambda X: atomstream.align(WHOLE[:2], X).similarity),
    "callbacks.History(held_out)": (TABLE, history_of),
    "sparse_encode(X)": (TABLE, lambda X: atomstream.sparse_encode(X, WHOLE[:2])),
    "sparse_encode(dictionary)": (ATOMS, lambda X: atomstream.sparse_encode(WHOLE, X)),
    "sparse_encode(start)": (
        CODES,
        lambda X: atomstream.sparse_encode(WHOLE, WHOLE[:2], start=X),
    ),
    "losses.Mahalanobis(A)": (P, lambda X: Mahalanobis(X).A),
    "streams.CubeRows(cube)": (TENSOR, lambda X: streams.CubeRows(X, (0, 1))[:]),
    "streams.OnDisk(rows)": (TABLE, lambda X: model("OnlineNMF").fit(streams.OnDisk(X))),
    "streams.Triples(values)": (
        ROW,
        lambda x: np.asarray(streams.Triples(np.arange(len(x)) % 2, np.arange(len(x)), x)),
    ),
    "streams.batches(X)": (TABLE, lambda X: rows_of(streams.batches(X, 5, rng=0))),
    "streams.patches(image)": (IMAGE, lambda X: rows_of(streams.patches([X], 4))),
    "streams.windows(series)": (TABLE, lambda X: rows_of(streams.windows(X, 3))),
    "looks.plots.triples_data(rows)": (
        TABLE,
        lambda X: plots.triples_data(learned("OnlineNMF"), X, 2)[0],
    ),
}
