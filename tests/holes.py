"""Every way to write that an entry is missing, and every public argument that takes data."""

import inspect
import re
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import atomstream

FILL = 999.0  # behind a mask


def masked(X):
    return np.ma.array(np.where(np.isnan(X), FILL, X), mask=np.isnan(X))


def masked_on_top(X):
    """Return a masked array with numbers as good as any behind its mask."""
    return np.ma.array(np.where(np.isnan(X), 1.0, X), mask=np.isnan(X))


def nested(X):
    """Return lists in lists, whose missing entries are None."""
    return np.where(np.isnan(X), None, X).tolist()


def columns(X):
    return {f"c{number}": nested(column) for number, column in enumerate(X.T)}


def pandas_of(kind):
    return lambda X: pd.DataFrame({name: pd.array(c, kind) for name, c in columns(X).items()})


def objects_with_na(X):
    frame = pd.DataFrame(columns(X)).astype(object)
    return frame.where(frame.notna(), pd.NA)


# Of any number of axes, of two, and of one.
ANY = {
    "masked": masked,
    "masked, with good numbers behind": masked_on_top,
    "lists": nested,
    "objects": lambda X: np.array(nested(X), object),
}
TABLES = {
    "rows that are masked": lambda X: list(masked(X)),
    "Float64": pandas_of("Float64"),
    "Arrow of pandas": pandas_of("double[pyarrow]"),
    "objects with NA": objects_with_na,
    "polars": lambda X: pl.DataFrame(columns(X)),
    "Arrow": lambda X: pa.table(columns(X)),
    "a batch of records": lambda X: pa.table(columns(X)).to_batches()[0],
}
SERIES = {
    "a list with a masked entry": lambda X: list(masked(X)),
    "a series of pandas": lambda X: pd.Series(pd.array(nested(X), "Float64")),
    "a series of polars": lambda X: pl.Series(nested(X)),
    "chunks of Arrow": lambda X: pa.chunked_array([nested(X)]),
}


def forms(X):
    """Return the ways to write an array with NaN."""
    return ANY | {2: TABLES, 1: SERIES}.get(X.ndim, {})


# Names of arguments that hold numbers, labels, dates or places.
DATA = re.compile(
    "[APXYxy]|after|ahead|anchors|approximation|batch|batches|before|bins|cells|classes|codes|"
    "components|concentrations|configurations|contributions|counts|covariates|cube|data|data_sets|"
    "dates|destinations|dictionary|edges|entry_weight|examples|exogenous|held_out|ids|image|images|"
    "init|labels|latitude|limits|longitude|mask|missing|model_[ab]|motif|network|node_weights|"
    "observed|original|origins|others|pairs|pictures|places|position|predicted|probabilities|"
    "profiles|rebuilt|reconstruction|rows|sample_weight|scores|series|shares|source|start|states|"
    "time|times|total|truth|uncertainties|usages|values|video|visits|weights"
)
# The parts of which models are made, and what is written and read: they get checked arrays.
INSIDE = re.compile(
    r"(coders|dictionaries|losses|memory|penalties|schedules|updates|changes|cluster|drift|history|"
    r"io|lives?|loggers|testing|watch|callbacks\.(?!History\()|looks\.(?!plots|\w+Look\.)).*"
)


def arguments(function):
    try:
        return inspect.signature(function).parameters.keys()
    except (TypeError, ValueError):
        return ()


def public():
    """Return "name(argument)" for each argument that takes data of all public callables."""
    found, seen = [], set()

    def visit(name, function):
        found.extend(f"{name}({given})" for given in arguments(function) if DATA.fullmatch(given))

    def walk(module, prefix):
        for name in module.__all__:
            thing, path = getattr(module, name), prefix + name
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            if isinstance(thing, types.ModuleType):
                if hasattr(thing, "__all__"):
                    walk(thing, thing.__name__.removeprefix("atomstream.") + ".")
            elif inspect.isclass(thing):
                visit(path, thing)
                for method, function in inspect.getmembers(thing, inspect.isroutine):
                    if not method.startswith(("_", "set_")) and not hasattr(tuple, method):
                        visit(f"{path}.{method}", function)
            else:
                visit(path, thing)

    walk(atomstream, "")
    return [name for name in found if not INSIDE.fullmatch(name)]
