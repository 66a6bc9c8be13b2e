"""The pages name what exists: code spans in README, CONTRIBUTING and docs are read and looked up.

The convention for a code span in a page:

- a dotted name starts at the package (`coders.ActiveSet.encode`, with or without `atomstream.`)
  or at a public class (`OnlineNMF.fit_stream`), and must lead to something;
- a name in CapWords must be public somewhere in the package, or stand in ELSEWHERE;
- a path that ends in `.py` must exist, below the package or below the repository;
- any other dotted name starts with one of OBJECTS (a variable) or ends like a file.
"""

import builtins
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import ismodule
from pathlib import Path
from pkgutil import walk_packages

import pytest
from pages import defined_names

import atomstream

ROOT = Path(__file__).parents[2]
PACKAGE = Path(atomstream.__file__).parent
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in ROOT.glob("docs/**/*.md") if page.parent.name not in {"decisions", "lab"}]
)
CALL = r"(?:\(.*\))?"
DOTTED = re.compile(rf"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+){CALL}", re.DOTALL)
CAPWORD = re.compile(rf"([A-Z][a-z]+\w*){CALL}", re.DOTALL)
PATH = re.compile(r"[\w./]+\.py")
OBJECTS = {
    *("model", "batch", "clock", "penalty", "loss", "choice", "chain", "algorithm", "state"),
    *("memory_", "clock_", "learner_", "representatives_"),
    *("np", "xarray", "copy", "sklearn", "networkx", "network", "ranking"),
    # As callers name them.
    *("X", "D", "components_", "cp", "tl", "gensim", "lazy", "zarr", "torch", "choice_", "fitted"),
    *("rows", "concurrent", "mpi4py", "musical", "found", "librosa", "mudata"),
}
FILES = {
    *("toml", "json", "jsonl", "html", "csv", "parquet", "npz", "npy", "png", "svg"),
    *("md", "txt", "pyi", "gz", "tsv", "mtx", "zarr", "d"),
}
ELSEWHERE = {"None", "True", "False", "Generator", "Inf", "Nan", "Abar", "Bbar"} | {
    "Dockerfile",
    "ProgressBar",  # of scikit-learn
    "ScoringMonitor",
    "DataLoader",  # of torch
    "TensorDataset",
    # of scikit-learn, gensim, TensorLy, HyperSpy and the papers' code: pages on coming from these
    *(
        "MinMaxScaler",
        "MiniBatchNMF",
        "MiniBatchDictionaryLearning",
        "Dictionary",
        "Nmf",
        "CPTensor",
    ),
    # of T-ELF and cNMF_torch, and of our recipe for river
    *("Vulture", "Beaver", "Peacock", "SeaLion", "Preprocess", "Atoms", "SymNMFk", "TriNMFk"),
    "MutationType",  # a column of tables of mutations
    *("Online_NMF", "Wtd_NNetwork", "Pivot_update", "NetDictLearner"),
}


def spans(page):
    """Return the code spans of a page, its blocks of code left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.findall(r"`([^`\n]+)`", re.sub(r"(?m)^    .*$", "", text))


@cache
def public_names():
    """Return every public name that some module of the package defines or lists."""
    names = set(atomstream.__all__)
    for module in walk_packages([str(PACKAGE)], "atomstream."):
        if "__main__" not in module.name:
            names.update(defined_names(import_module(module.name)))
    return names


def starts_here(word):
    """Return whether a dotted name that starts with this word is one of the package."""
    own = word.isidentifier() and find_spec(f"atomstream.{word}") is not None
    return word == "atomstream" or own or word in atomstream.__all__


def leads_somewhere(name):
    """Return whether a dotted name, from the package's root, is a module or an attribute."""
    thing = atomstream
    path = "atomstream"
    for word in name.removeprefix("atomstream.").split("."):
        path = f"{path}.{word}"
        if hasattr(thing, word):
            thing = getattr(thing, word)
        elif word in getattr(thing, "__annotations__", {}):
            return True  # a field without a default
        else:
            try:
                thing = import_module(path)
            except ImportError:
                return False
    return True


def complaint(span):
    """Return what is wrong with a code span, or None."""
    if PATH.fullmatch(span):
        found = (PACKAGE / span).exists() or (ROOT / span).exists()
        return None if found else "no such file"
    if match := DOTTED.fullmatch(span):
        name = match[1]
        first, last = name.split(".")[0], name.split(".")[-1]
        if first in OBJECTS or last in FILES:
            return None
        if not starts_here(first):
            return "starts neither here nor in OBJECTS"
        return None if leads_somewhere(name) else "no such name in the package"
    if match := CAPWORD.fullmatch(span):
        known = match[1] in public_names() | ELSEWHERE or hasattr(builtins, match[1])
        return None if known else "not a public name"
    return None


def reference():
    """Return the script that writes the reference."""
    spec = spec_from_file_location("reference", ROOT / "docs/reference.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reached(module):
    """Yield a module and those that its list of public names leads to."""
    yield module
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if ismodule(thing) and thing.__name__.startswith(f"{module.__name__}."):
            yield from reached(thing)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_the_pages_exist(page):
    wrong = {span: why for span in spans(page) if (why := complaint(span))}
    assert not wrong


def test_the_test_of_names_sees_wrong_ones():
    assert complaint("coders.ActiveSet.encode") is None
    assert complaint("problem.batch.Batch.X") is None
    assert complaint("OnlineNMF.fit_stream(batches)") is None
    for wrong in ("coders.NoCoder", "OnlineNMF.no_method", "nowhere.thing", "models/names.py"):
        assert complaint(wrong), wrong
    assert complaint("NoSuchPart(3)")


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    missing = {name for name in atomstream.__all__ if f"`{name}`" not in text}
    assert not missing - {"__version__"}


def test_every_module_with_pages_in_the_reference_lists_its_names():
    named = [name for names in reference().MODULES.values() for name in names]
    modules = {each for name in named for each in reached(getattr(atomstream, name))}
    assert len(modules) > len(named)
    assert not [each.__name__ for each in modules if not hasattr(each, "__all__")]


def test_the_reference_is_what_its_script_writes():
    text = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert text == reference().page(), "run python docs/reference.py"


def test_every_name_of_a_module_has_a_row():
    """Looks are found by their models, and modules have sections of their own."""
    page, script = reference().page(), reference()
    missing = [
        f"{name}.{key}"
        for modules in script.MODULES.values()
        for name in modules
        for key in script.public(getattr(atomstream, name))
        if f"`{name}.{key}`" not in page
    ]
    assert missing == []
