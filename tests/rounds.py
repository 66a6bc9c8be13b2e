"""Models that learn in rounds, what they learn from, and the bits of what they learned."""

import tempfile
from copy import deepcopy
from pathlib import Path

from cases import of_fields
from strange import ATOMS, Drawn

from atomstream import OnlineDictionaryLearning, OnlineNMF, save
from atomstream.cluster import Rounds, Shards

SMALL = Rounds(warmup=256, first=128, growth=1.5, most=512, batch=64)
# Of fields: a model, the kind of its shards, and in which modes it learns.
OF_FIELDS = of_fields("rounds")
MODELS = {
    "squared": OnlineNMF(ATOMS, random_state=0),
    "kl": OnlineNMF(ATOMS, loss="kl", random_state=0),
    "huber": OnlineNMF(ATOMS, loss="huber", random_state=0),
    "signed": OnlineDictionaryLearning(ATOMS, alpha=0.01, random_state=0),
    **{name: model for name, (model, _, _) in OF_FIELDS.items()},
}


def drawn(n=7, n_rows=300):
    return Shards([Drawn(seed, n_rows) for seed in range(n)])


def fresh(model):
    return deepcopy(model)


def bits(model):
    """Return all that was learned, as the bytes of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        save(model, f"{folder}/model.atoms")
        return Path(f"{folder}/model.atoms").read_bytes()


def kind_of(name):
    """Return the kind of shards that a model learns from."""
    return OF_FIELDS[name][1] if name in OF_FIELDS else Drawn


def shards_for(name, n=7):
    return Shards([kind_of(name)(seed) for seed in range(n)])


def modes_of(name):
    """Return the modes of rounds in which a model learns."""
    return OF_FIELDS[name][2] if name in OF_FIELDS else ("local", "frozen")
