"""Write docs/reference.md: every public name, by role, with the first line of its docstring."""

import inspect
import re
from pathlib import Path
from types import ModuleType

import atomstream
from atomstream.looks import Look

HEAD = """# Reference

Every public name, by role, with one line each. `help(NAME)` shows parameters and examples.

You import the names of the first three tables from the package: `from atomstream import OnlineNMF`.
The other tables belong to modules: after `from atomstream import losses` you write `losses.Huber`.

`python docs/reference.py` writes this page from the docstrings.
"""
NAMES = {
    "Models": (
        *("OnlineNMF", "OnlineDictionaryLearning", "OnlineConvexMF", "OnlineCPDictionary"),
        *("NetworkDictionary", "RandomWalkFactorization", "SeriesDictionary", "ImageDictionary"),
        *("ColorRestorer", "VideoDictionary", "TopicModel", "SktimeForecaster", "ConsensusNMF"),
        "BatchNMF",
        "SupervisedDictionary",
    ),
    "Functions": (
        *("sparse_encode", "online_parafac", "choose_rank", "choose_forecaster", "align", "save"),
        *("extract_signatures", "find_sources", "bootstrap_sources", "symmetric_nmf"),
        *("load", "register", "report", "trusted_types", "transform_shards", "Checkpoint"),
    ),
    "Errors and warnings": (
        *("IncompatiblePartsError", "InputError", "ModelFileError", "CorruptModelError"),
        *("MissingLibraryError", "NewerFormatError", "NotAModelError", "AtomstreamWarning"),
        *("DataWarning", "NetworkWarning", "NotConvergedWarning", "RemovalWarning"),
        *("ScheduleWarning", "BadShardError", "ChangedShardError", "EngineError"),
    ),
}
MODULES = {
    "Parts of an algorithm": (
        *("losses", "penalties", "coders", "tolerances", "schedules", "dictionaries"),
        *("memory", "updates"),
    ),
    "Streams and chains": ("streams", "samplers"),
    "Data of one kind": (
        *("networks", "walks", "series", "images", "text", "tensors", "cells", "signatures"),
        "sources",
    ),
    "Watching and judging": (
        *("callbacks", "diagnostics", "changes", "drift", "history", "lives", "live", "loggers"),
    ),
    "Pictures": ("plots", "looks"),
    "Files": ("io",),
    "Tests of parts": ("testing",),
    "Many machines": ("cluster",),
}
# What has no docstring of its own.
CONSTANTS = {
    "history.FIELDS": "The keys of a point of a history, and what each is.",
    "plots.MAX_BARS": "The number of features up to which atoms are drawn as bars.",
    "schedules.Schedule": "The type of a schedule: a function of step, mass and total.",
    "text.FUNCTION_WORDS": "The function words that networks of words are made of.",
}


def plain(formula: str) -> str:
    """Return a formula of a docstring without the marks of TeX."""
    formula = re.sub(r"\\t?frac(\d)(\d)", r"\1/\2 ", formula)
    formula = re.sub(r"\\([a-zA-Z]*)[ ,]?", lambda mark: f"{mark[1]} ".lstrip(), formula)
    return re.sub(" +", " ", formula).strip()


def summary(thing: object) -> str:
    """Return the first line of a docstring for a table, its formulas made plain."""
    line = (inspect.getdoc(thing) or "").split("\n")[0]
    line = re.sub(r":math:`(.*?)`", lambda math: plain(math[1]), line)
    return line.replace("``", "`").replace("|", "\\|")


def describes(thing: object) -> bool:
    """Return whether a name of a module is a class, a function or a module, not a number."""
    return inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, ModuleType)


def table(rows: list[tuple[str, ...]], heads: tuple[str, ...]) -> str:
    """Return a table of a page."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"


def parameters(model: type) -> str:
    """Return the table of what the parameters of an estimator are for, and may be."""
    known = inspect.signature(model).parameters
    declared = [(name, model.PARAMETERS[name], known[name].default) for name in known]
    rows = [
        (f"`{name}`", f"`{default!r}`", str(it).replace("|", "\\|"), it.help)
        for name, it, default in declared
    ]
    return table(rows, ("name", "default", "what it may be", "what it is for"))


def public(module: ModuleType) -> list[str]:
    """Return the names of a module that have pages: looks of models are found by their models."""
    return [key for key in module.__all__ if not is_for_a_model(getattr(module, key))]


def is_for_a_model(thing: object) -> bool:
    """Return whether a thing is the look of models of one kind."""
    return inspect.isclass(thing) and issubclass(thing, Look) and thing is not Look


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for title, names in NAMES.items():
        things = [(name, getattr(atomstream, name)) for name in names]
        rows = [(f"`{name}`", summary(thing), f"`{thing.__module__}`") for name, thing in things]
        parts += [f"## {title}\n", table(rows, ("name", "what it is", "module"))]
        for name, thing in things:
            if hasattr(thing, "PARAMETERS"):
                parts += [f"### Parameters of `{name}`\n", parameters(thing)]
    for title, modules in MODULES.items():
        parts.append(f"## {title}\n")
        for name in modules:
            module = getattr(atomstream, name)
            parts.append(f"### `{name}`\n\n{summary(module)} Module `{module.__name__}`.\n")
            things = [(key, getattr(module, key)) for key in public(module)]
            rows = [
                (f"`{name}.{key}`", CONSTANTS.get(f"{name}.{key}") or summary(it))
                for key, it in things
                if describes(it) or f"{name}.{key}" in CONSTANTS
            ]
            parts.append(table(rows, ("name", "what it is")))
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("reference.md").write_text(page(), encoding="utf-8")
