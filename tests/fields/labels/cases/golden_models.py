"""A golden model of labels: how it was learned, and what it gives."""

from pathlib import Path

from atomstream import SupervisedDictionary

HERE = Path(__file__).parents[1] / "golden"


def learned(table):
    model = SupervisedDictionary(n_components=3, n_epochs=3, batch_size=40, random_state=0)
    return model.fit(table[:, :-1], table[:, -1])


def labels(model, table):
    X, y = table[:, :-1], table[:, -1]
    yield "components", model.components_
    yield "coef", model.coef_
    yield "classes", model.classes_
    yield "chances", model.predict_proba(X[:20])
    yield "score", model.score(X, y)
    yield "label_loss", model.label_loss_
    model.partial_fit(X[:40], y[:40])
    yield "after_components", model.components_
    yield "after_chances", model.predict_proba(X[:20])


CASES = {"SupervisedDictionary": (HERE, learned, labels)}
assert len(CASES) == 1
