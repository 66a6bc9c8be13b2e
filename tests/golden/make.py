"""Write the golden files: models and runs in format 1, which every later release must read.

Run once per format, never again for one that was released:
``PYTHONPATH=src:tests python tests/golden/make.py``.
"""

import os
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from golden.outputs import NAMED, outputs
from kept_runs import PLACES

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.cli import main
from atomstream.penalties import Box
from atomstream.schedules import Constant

HERE = Path(__file__).parent
# How often a run is resumed for a moment before it is left unfinished.
STEPS = {
    "images-unfinished": 13,
    "network-unfinished": 7,
    "rows-nmf-unfinished": 25,
    "text-unfinished": 13,
}


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


def of_each_class(X):
    """Return a model of every class, by its name, learned from its input."""
    rng = np.random.default_rng(1)
    colors = np.array([[0.3, 0.9, 0.2], [0.4, 0.6, 1.0]])
    grass, sky = rng.random((2, 12, 12, 3)) * colors[:, None, None]
    three = {"n_components": 3, "n_epochs": 3, "random_state": 0}
    patches = {"patch_size": 4, "random_state": 0}
    series = {"init_batch_size": 30, "n_init_batches": 4, "memory": 24, "window": 6, "ridge": 0.01}
    new = {
        "BatchNMF": atomstream.BatchNMF(2, 1, n_epochs=3, batch_size=40, random_state=0),
        "ColorRestorer": atomstream.ColorRestorer(n_components=2, n_patches=200, **patches),
        "ImageDictionary": atomstream.ImageDictionary(
            n_components=10, n_patches=400, batch_size=100, **patches
        ),
        "NetworkDictionary": atomstream.NetworkDictionary(
            n_components=3, motif="path:4", n_batches=20, batch_size=60, random_state=0
        ),
        "OnlineCPDictionary": atomstream.OnlineCPDictionary(
            n_components=2, n_epochs=3, batch_size=25, random_state=0
        ),
        "OnlineConvexMF": atomstream.OnlineConvexMF(
            n_components=3, n_representatives=18, batch_size=50, random_state=0
        ),
        "OnlineDictionaryLearning": OnlineDictionaryLearning(batch_size=40, **three),
        "OnlineNMF": OnlineNMF(loss="kl", batch_size=40, **three),
        "RandomWalkFactorization": atomstream.RandomWalkFactorization(
            n_components=2, random_state=0
        ),
        "SeriesDictionary": atomstream.SeriesDictionary(n_components=4, random_state=0, **series),
        "SupervisedDictionary": atomstream.SupervisedDictionary(batch_size=40, **three),
        "TopicModel": atomstream.TopicModel(
            n_features=256, vectorizer="counts", batch_size=20, **three
        ),
        "VideoDictionary": atomstream.VideoDictionary(
            n_components=3, n_epochs=10, snapshots=(5, 20), random_state=0
        ),
    }
    data = dict(X) | {"ColorRestorer": {"grass": [grass], "sky": [sky]}}
    data["TopicModel"] = X["TopicModel"].tolist()
    fitted = {}
    for name, model in new.items():
        table = data[name]
        fitted[name] = (
            model.fit(table[:, :-1], **{NAMED[name]: table[:, -1]})
            if name in NAMED
            else model.fit(table)
        )
    return fitted


def write_models():
    """Write a file for each model, and what it must hold or give."""
    for name, model in models().items():
        atomstream.save(model, HERE / f"{name}.atoms")
        np.savez(
            HERE / f"{name}.npz",
            components=model.components_,
            gram=model.memory_.gram,
            n_steps=model.n_steps_,
            drawn=model._learner.rng.integers(2**31, size=4),
        )
    with np.load(HERE / "models/inputs.npz") as inputs:
        X = {name: inputs[name] for name in inputs}
    for name, model in of_each_class(X).items():
        atomstream.save(model, HERE / f"models/{name}.atoms")
        np.savez_compressed(HERE / f"models/{name}.npz", **outputs(name, model, X[name]))


def write_runs(place):
    """Learn each run anew by its settings; leave some unfinished, and say what the rest gives."""
    os.chdir(place)
    for settings in sorted(Path().glob("*/run.toml")):
        folder, head = settings.parent, settings.read_text().partition(" --config")[0]
        words = head.removeprefix("# atomstream ").split()
        with tempfile.TemporaryDirectory() as scratch:
            copy = shutil.copy(settings, scratch)
            shutil.rmtree(folder)
            begin = [*words, "--config", str(copy), "--out", str(folder)]
            n_steps = STEPS.get(folder.name)
            # The inputs lie beside the runs and move with them: their names stay as they are.
            with patch("atomstream.cli.running._is_anywhere", return_value=True):
                main([*begin, *(["--max-time", "0"] if n_steps else [])])
            for _ in range((n_steps or 1) - 1):
                main(["resume", str(folder), "--max-time", "0"])
            whole = shutil.copytree(folder, Path(scratch) / "whole")
            main(["resume", str(whole)])
            model = atomstream.load(whole)
        name = next(name for name in ("right_", "atoms_", "components_") if hasattr(model, name))
        np.save(f"expected/{folder.name}.npy", getattr(model, name))


if __name__ == "__main__":
    write_models()
    for place in PLACES:
        write_runs(place)
