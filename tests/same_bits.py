"""Compare what every model learns with what another commit of the package learns, to the bit.

python tests/same_bits.py --against COMMIT      # prints the cases that differ; exit code 1 if any
python tests/same_bits.py --write               # one line a case: its name and a digest

For changes that must not change results. Both codes run on this machine, one after the other, with
the same cases: every model, loss, set, form of data, way to learn, rounds, and a model that is
saved in the middle. A case that is refused stands with its sentence.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import warnings
from inspect import signature
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOSSES = ["squared", "kl", "is", "hellinger", "huber:0.5", "l1", "l2", "alpha:0.3", "beta:1.5"]
SETS = ["free", "nonnegative", "box", "unit_ball", "nonnegative_ball", "simplex", "unit_sphere"]


def data(form):
    """Return rows of one form, and what else goes with them into a call."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(7)
    X = rng.gamma(0.5, size=(120, 4)) @ rng.random((4, 30)) + 0.05 * rng.random((120, 30)) + 0.01
    more = {}
    if form == "sparse":
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.85, 0, X))
    elif form == "missing":
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    elif form == "float32":
        X = X.astype(np.float32)
    elif form == "weighted":
        more["sample_weight"] = rng.integers(0, 3, 120).astype(float)
    elif form == "entries":
        more["entry_weight"] = rng.random(X.shape)
    return X, more


def learned(model):
    """Return the arrays of a model in the order of its file."""
    import numpy as np

    from atomstream import save
    from atomstream.files.archive import read_archive

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.atoms"
        save(model, path)
        arrays = read_archive(path)[1]
    return [np.asarray(array) for array in arrays]


def in_passes(make, X, more):
    return make(n_epochs=3).fit(X, **more)


def to_the_end(make, X, more):
    return make().fit(X, **more)


def saved_between(make, X, more):
    import atomstream

    model = make().partial_fit(X[:40], **{name: part[:40] for name, part in more.items()})
    with tempfile.TemporaryDirectory() as folder:
        atomstream.save(model, Path(folder) / "m.atoms")
        model = atomstream.load(Path(folder) / "m.atoms")
    return model.partial_fit(X[40:], **{name: part[40:] for name, part in more.items()})


def in_rounds(model, X, **how):
    import numpy as np

    from atomstream.cluster import shards

    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{start}.npy") for start in (0, 40, 80)]
        for start, path in zip((0, 40, 80), paths, strict=True):
            np.save(path, X[start : start + 40])
        return model.fit_stream(shards(paths), **how)


WAYS = [in_passes, to_the_end, saved_between]


def cases():
    """Yield the name of each case and a function that returns a fitted model, or arrays."""
    import zoo
    from cases import of_fields
    from sklearn.base import clone

    from atomstream import OnlineDictionaryLearning, OnlineNMF
    from atomstream.cluster import Rounds
    from atomstream.schedules import Constant

    for name, (model, make, _) in zoo.ZOO.items():
        yield f"zoo {name}", lambda n=name, m=model, d=make: zoo.use(n, clone(m).fit(d()), d())
        yield f"zoo state {name}", lambda m=model, d=make: clone(m).fit(d())
    forms = ["dense", "float32", "sparse", "missing", "weighted", "entries"]
    for loss, form, way in product(LOSSES, forms, WAYS):
        settings = {"loss": loss, "batch_size": 25, "random_state": 0, "missing": form == "missing"}
        make = lambda s=settings, **more: OnlineNMF(4, **s, **more)  # noqa: E731
        yield f"nmf {loss} {form} {way.__name__}", lambda m=make, f=form, w=way: w(m, *data(f))
    for codes, atoms in product(SETS[:-1], SETS):
        settings = {"codes": codes, "atoms": atoms, "alpha": 0.01, "batch_size": 25}
        model = OnlineDictionaryLearning(4, n_epochs=2, random_state=0, **settings)
        yield f"sets {codes} {atoms}", lambda m=model: clone(m).fit(data("dense")[0])
    # Older commits call it method.
    updater = "updater" if "updater" in signature(OnlineNMF).parameters else "method"
    others = {
        "adaptive": {"schedule": "adaptive"},
        "half-life": {"schedule": Constant(half_life=50.0)},
        "harmonic": {"schedule": "harmonic"},
        "spsg": {updater: "spsg"},
        "spsg kl": {updater: "spsg", "loss": "kl"},
        "scaled": {"scale": "std"},
        "fixed": {"init": data("dense")[0][:4], "fixed_components": 2},
        "sweeps": {"alpha": 0.1, "ridge": 0.1, "damping": 0.1},
    }
    for (name, settings), form in product(others.items(), ["dense", "sparse"]):
        model = OnlineNMF(4, batch_size=25, n_epochs=3, random_state=0, **settings)
        yield f"nmf {name} {form}", lambda m=model, f=form: clone(m).fit(data(f)[0])
    cases_of_fields = of_fields("same_bits")  # with the shape of a sample
    models = {
        **{loss: OnlineNMF(4, loss=loss, random_state=0) for loss in ("squared", "kl", "huber")},
        "adaptive": OnlineNMF(4, schedule="adaptive", random_state=0),
        "signed": OnlineDictionaryLearning(4, random_state=0),
        **{name: model for name, (model, _) in cases_of_fields.items()},
    }
    for (name, model), slots, mode in product(models.items(), (1, 3), ("local", "frozen")):
        rounds = Rounds(warmup=30, first=40, growth=1.5, batch=10, mode=mode)
        X = data("dense")[0].reshape(120, *cases_of_fields.get(name, (None, (30,)))[1])
        how = {"slots": slots, "rounds": rounds}
        yield (
            f"rounds {name} {slots} {mode}",
            lambda m=model, x=X, h=how: in_rounds(clone(m), x, **h),
        )


def digest(case):
    """Return what stands for the outcome of a case."""
    import numpy as np
    from sklearn.base import BaseEstimator

    try:
        found = case()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:100].replace("\n", " ")
    arrays = [np.asarray(found)] if not isinstance(found, BaseEstimator) else learned(found)
    shown = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(shown).hexdigest()[:16]


def write():
    warnings.simplefilter("ignore")
    for name, case in cases():
        print(f"{name}\t{digest(case)}", flush=True)


def run(tree, source):
    """Return the lines of a tree's package by the cases of this file."""
    path = os.pathsep.join([str(tree / "src"), str(source.parent)])
    variables = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, str(source), "--write"]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def compare(commit):
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(tree), commit], check=True)
        try:
            before, after = run(tree, Path(__file__)), run(ROOT, Path(__file__))
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    other = [name for name in after if before.get(name) != after[name]]
    for name in other:
        print(f"{name}: {before.get(name)} -> {after[name]}")
    print(f"{len(after)} cases, {len(other)} differ")
    return bool(other)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", default="HEAD")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sys.exit(write() if arguments.write else compare(arguments.against))
