"""A golden model of series: how it was learned, and what it gives."""

from pathlib import Path

from atomstream import SeriesDictionary

HERE = Path(__file__).parents[1] / "golden"


WINDOWS = {"init_batch_size": 30, "n_init_batches": 4, "memory": 24, "window": 6, "ridge": 0.01}


def learned(table):
    return SeriesDictionary(n_components=4, random_state=0, **WINDOWS).fit(table)


def series(model, table):
    band = model.predict_interval(3, 0.8)
    yield "atoms", model.atoms_
    yield "initial_atoms", model.initial_atoms_
    yield "one_step", model.one_step_
    yield "predict", model.predict(5)
    yield "low", band.low
    yield "high", band.high
    yield "reconstruct", model.reconstruct(table)
    model.partial_fit(table[:10])
    yield "after_atoms", model.atoms_
    yield "after_predict", model.predict(3)


CASES = {"SeriesDictionary": (HERE, learned, series)}
assert len(CASES) == 1
