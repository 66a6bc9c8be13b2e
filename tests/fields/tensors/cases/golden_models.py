"""A golden model of tensors: how it was learned, and what it gives."""

from pathlib import Path

from golden.outputs import rows

from atomstream import OnlineCPDictionary

HERE = Path(__file__).parents[1] / "golden"


def learned(X):
    return OnlineCPDictionary(n_components=2, n_epochs=3, batch_size=25, random_state=0).fit(X)


def tensor(model, X):
    for axis, loading in enumerate(model.loadings_):
        yield f"loading{axis}", loading.copy()
    yield from rows(model, X)


CASES = {"OnlineCPDictionary": (HERE, learned, tensor)}
assert len(CASES) == 1
