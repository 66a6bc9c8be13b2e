"""Calls of each method of the models of rows, with one argument given and the others whole."""

import copy
import functools
import inspect
import re

import numpy as np
from given import ATOMS, CODES, LABELS, OBSERVED, ROW, TABLE, WEIGHTS, WHOLE, holes
from holes import arguments, public

import atomstream


def model(name, **settings):
    """Return a model of rows of any of these classes, with missing entries where it takes them."""
    kind = getattr(atomstream, name)
    known = inspect.signature(kind).parameters
    own = {"n_components": 2, "n_epochs": 1, "random_state": 0, "missing": True, "n_shared": 1}
    own |= {"n_own": 1, "n_representatives": 4, "n_replicates": 2}
    if name == "ConsensusNMF":
        own["n_components"] = [2]
    chosen = {argument: value for argument, value in own.items() if argument in known}
    return kind(**chosen | settings)


@functools.cache
def _learned(name):
    target = {"y": LABELS} if name == "SupervisedDictionary" else {}
    beside = {"covariates": WHOLE[:, :1]} if target else {}
    return model(name).fit(WHOLE, **target, **beside)


def learned(name):
    """Return a copy of a model that has learned from whole data, which it does once."""
    return copy.deepcopy(_learned(name))


MODELS = [
    "BatchNMF",
    "ConsensusNMF",
    "OnlineCPDictionary",
    "OnlineConvexMF",
    "OnlineDictionaryLearning",
    "OnlineNMF",
    "SupervisedDictionary",
]
LEARN = ("fit", "fit_transform", "partial_fit")
# What stands at an argument of a method of a model of rows.
AT = {
    "X": TABLE,
    "x": ROW,
    "codes": CODES,
    "components": ATOMS,
    "mask": OBSERVED,
    "entry_weight": OBSERVED,
    "sample_weight": WEIGHTS,
    "y": LABELS,
    "covariates": holes(WHOLE[:, :1], 2),
    "ids": np.where(np.isnan(WEIGHTS), np.nan, np.arange(14.0)),
    "batch": LABELS,
    "batches": TABLE,
    "classes": holes([0, 1, 2], 2),
    "init": ATOMS,
    "data_sets": LABELS,
    "time": None,
}


def of_model(name, method, argument):
    """Return what calls a method with one argument given, and the others whole."""

    def call(given):
        if method is None:
            return model(name, **{argument: given}).fit(WHOLE)
        if method == "from_components":
            return getattr(atomstream, name).from_components(given).transform(WHOLE)
        made = model(name) if method in (*LEARN, "fit_stream") else learned(name)
        function, known = getattr(made, method), {}
        if argument == "batches":
            return function([given])
        if argument not in ("X", "codes", "x"):
            known["X"] = WHOLE
        known[argument] = given
        if name == "SupervisedDictionary":
            needs = {"y": np.nan_to_num(LABELS)}
            if method not in (*LEARN, "score"):
                needs = {}
            if method in (*LEARN, "score", "predict", "predict_proba", "decision_function"):
                needs["covariates"] = WHOLE[:, :1]
            known = {n: v for n, v in needs.items() if n in arguments(function)} | known
        return function(**known)

    return call


def doors_of_models():
    """Return the calls of all public methods of models of rows, by name and argument."""
    found = {}
    for door in public():
        name, method, argument = (
            re.fullmatch(r"(\w+)(?:\.(\w+))?\((\w+)\)", door).groups()
            if (door.split("(")[0].split(".")[0] in MODELS)
            else (None, None, None)
        )
        if name is None or AT.get(argument) is None:
            continue
        if method is None and argument in ("codes", "classes", "batch", "components"):
            continue
        found[door] = AT[argument], of_model(name, method, argument)
    return found
