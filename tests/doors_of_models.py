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
    own |= {"n_own": 1}
    chosen = {argument: value for argument, value in own.items() if argument in known}
    return kind(**chosen | settings)


def learned(name):
    """Return a model that has learned from whole data."""
    return model(name).fit(WHOLE)


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


@functools.cache
def doors():
    """Return the public arguments that take data, as triples of name, method and argument."""
    found = (re.fullmatch(r"(\w+)(?:\.(\w+))?\((\w+)\)", door) for door in public())
    return [match.groups() for match in found if match]


def doors_of_model(name, settings=None, taught=None, beside=lambda method: {}):
    """Return the calls of all public methods of a model of rows, by name and argument.

    Parameters
    ----------
    name : str
        Of its class.
    settings : dict, default=None
        Of the model, besides those that models of rows share.
    taught : dict, default=None
        What it learns from besides rows.
    beside : callable
        Returns what the method of a name is given besides rows, where it takes that.
    """
    settings, taught = settings or {}, taught or {}

    @functools.cache
    def made():
        return model(name, **settings).fit(WHOLE, **taught)

    def call(method, argument, given):
        if method is None:
            return model(name, **settings | {argument: given}).fit(WHOLE)
        if method == "from_components":
            return getattr(atomstream, name).from_components(given).transform(WHOLE)
        learns = method in (*LEARN, "fit_stream")
        function = getattr(model(name, **settings) if learns else copy.deepcopy(made()), method)
        if argument == "batches":
            return function([given])
        known = {n: value for n, value in beside(method).items() if n in arguments(function)}
        known |= {} if argument in ("X", "codes", "x") else {"X": WHOLE}
        return function(**known | {argument: given})

    return {
        f"{name}.{method}({argument})" if method else f"{name}({argument})": (
            AT[argument],
            functools.partial(call, method, argument),
        )
        for of, method, argument in doors()
        if of == name and AT.get(argument) is not None
        if method or argument not in ("codes", "classes", "batch", "components")
    }


CASES = (
    doors_of_model("BatchNMF")
    | doors_of_model("OnlineDictionaryLearning")
    | doors_of_model("OnlineNMF")
)
