"""Write the golden files: models saved in the first format (atomstream 0.1.0), which every later
release must read.

Run once per format, never again for an old one. What they must hold stands beside each in ``.npz``.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.penalties import Box
from atomstream.schedules import Constant

HERE = Path(__file__).parent


def models():
    """Return models that between them use every kind of value a file can hold."""
    X = np.random.default_rng(0).random((40, 5))
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "<script>", "ü", ""])
    return {
        "nmf-1": OnlineNMF(3, random_state=0).fit(X),
        "parts-1": OnlineDictionaryLearning(
            3,
            alpha=0.0,
            codes=Box(-1.0, np.inf, l1=0.1),
            schedule=Constant(half_life=50.0),
            init=X[:3],
            random_state=np.random.RandomState(4),
        ).fit(X),
        "named-1": OnlineNMF(2, random_state=np.random.Generator(np.random.MT19937(1))).fit(frame),
    }


if __name__ == "__main__":
    for name, model in models().items():
        atomstream.save(model, HERE / f"{name}.atoms")
        np.savez(
            HERE / f"{name}.npz",
            components=model.components_,
            gram=model.memory_.gram,
            n_steps=model.n_steps_,
            drawn=model._rng.integers(2**31, size=4),
        )
