"""Every way to say that an entry is missing, and every door at which numbers come in."""

import inspect
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import atomstream

FILL = 999.0  # behind a mask


def masked(X):
    return np.ma.array(np.where(np.isnan(X), FILL, X), mask=np.isnan(X))


def nested(X):
    """Return lists in lists, whose missing entries are None."""
    return np.where(np.isnan(X), None, X).tolist()


def rows_of_masked(X):
    return list(masked(X))


def columns(X):
    return {f"c{number}": column.tolist() for number, column in enumerate(X.T)}


def with_none(X):
    return {
        name: [None if v != v else v for v in column] for name, column in columns(X).items()
    }


def pandas_with(kind):
    return lambda X: pd.DataFrame({name: pd.array(c, kind) for name, c in with_none(X).items()})


def objects_with_na(X):
    frame = pd.DataFrame(columns(X)).astype(object)
    return frame.where(frame.notna(), pd.NA)


# Of any number of axes, of two, and of one.
ANY = {"masked": masked, "lists": nested, "objects": lambda X: np.array(nested(X), object)}
TABLES = {
    "rows that are masked": rows_of_masked,
    "Float64": pandas_with("Float64"),
    "Arrow of pandas": pandas_with("double[pyarrow]"),
    "objects with NA": objects_with_na,
    "polars": lambda X: pl.DataFrame(with_none(X)),
    "Arrow": lambda X: pa.table(with_none(X)),
    "a batch of records": lambda X: pa.table(with_none(X)).to_batches()[0],
}
COLUMNS = {
    "a list with a masked entry": lambda X: list(masked(X)),
    "a series of pandas": lambda X: pd.Series(pd.array(nested(X), "Float64")),
    "a series of polars": lambda X: pl.Series(nested(X)),
    "chunks of Arrow": lambda X: pa.chunked_array([nested(X)]),
}


def forms(X):
    """Return the ways to write an array with NaN."""
    return ANY | {2: TABLES, 1: COLUMNS}.get(X.ndim, {})


# Arguments that hold numbers, labels, dates or places.
GIVEN = set(
    "A P X Y after ahead approximation before bins cells classes codes components "
    "concentrations configurations contributions counts covariates cube data_sets dates "
    "dictionary entry_weight exogenous examples held_out ids image images init labels latitude "
    "limits longitude mask missing model_a model_b motif network node_weights observed origins "
    "destinations pairs places position predicted probabilities profiles rebuilt reconstruction "
    "rows sample_weight scores series shares source start states times total uncertainties "
    "usages values video visits weights x y".split()
)


def public():
    """Return the public functions and methods with each of their arguments that hold data."""
    found, seen = {}, set()

    def visit(name, function):
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            return
        for parameter in GIVEN & parameters.keys():
            found[f"{name}({parameter})"] = function

    def walk(module, prefix):
        for name in module.__all__:
            thing = getattr(module, name)
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            if isinstance(thing, types.ModuleType):
                if hasattr(thing, "__all__"):
                    walk(thing, thing.__name__.removeprefix("atomstream.") + ".")
                continue
            if not inspect.isclass(thing):
                visit(prefix + name, thing)
                continue
            visit(prefix + name, thing)
            for method, function in inspect.getmembers(thing, inspect.isroutine):
                if not method.startswith(("_", "set_")):
                    visit(f"{prefix}{name}.{method}", function)

    walk(atomstream, "")
    return found
