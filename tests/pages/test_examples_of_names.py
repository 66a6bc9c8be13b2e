"""Every public name has an example: in a docstring, on a page, in the gallery or in a tutorial.

An example is a line of code that names it. What nobody makes by hand is listed here, with the
reason: it comes back from a call, or it is a base to inherit from, or only the engine calls it.
"""

import ast
import inspect
import json
import re
import runpy
from pathlib import Path

import atomstream

ROOT = Path(__file__).parents[2]
REFERENCE = runpy.run_path(str(ROOT / "docs/reference.py"))
RETURNED = {
    *("changes.Change", "changes.ChangedFeature", "cluster.FileShard", "cluster.RoundsReport"),
    *("diagnostics.Dependence", "diagnostics.SampleReport", "drift.Shares", "history.Trace"),
    *("io.Block", "io.Position", "lives.AtomsOverTime", "lives.Event", "lives.Moment"),
    *("looks.Record", "looks.Table", "networks.Scores", "networks.Shrinkage"),
    *("networks.links.Split", "samplers.Significance", "schedules.Conditions"),
    *("schedules.Decay", "signatures.Decomposition", "signatures.Exposures", "signatures.Match"),
    *("sources.Factors", "sources.Ranges", "tensors.Axes", "updates.CodedBatch"),
    *("memory.Aggregates", "memory.GramDelta", "memory.MajorantDelta", "memory.Majorants"),
    *("memory.Subgradient", "memory.SubgradientDelta", "memory.TrimmedAggregates"),
    *("memory.TrimmedDelta", "memory.Usage"),
}
# Statistics come with their updaters: `updates.Majorise` measures `MajorantSums`.
WITH_UPDATERS = {
    *("memory.GramSums", "memory.MajorantSums", "memory.Subgradients", "memory.TrimmedSums"),
}
BASES = {"cluster.Shard", "io.Source", "looks.Look", "losses.Loss", "samplers.Chain"}
CALLED_BY_RUNS = {"history.changeovers", "lives.lives_of", "looks.report.write_figures"}


def names_of(room, prefix):
    """Yield the public names of a module and of the modules in it, and what they are."""
    for key in REFERENCE["public"](room):
        thing = getattr(room, key)
        if inspect.ismodule(thing):
            if hasattr(thing, "__all__"):
                yield from names_of(thing, f"{prefix}.{key}")
        elif REFERENCE["describes"](thing):
            yield f"{prefix}.{key}", thing


def public():
    """Return each thing that is public, by the first name that it has."""
    found = {}
    for title, names in REFERENCE["NAMES"].items():
        if title != "Errors and warnings":  # they are raised
            found |= {getattr(atomstream, name): name for name in reversed(names)}
    for rooms in REFERENCE["MODULES"].values():
        for room in rooms:
            for name, thing in names_of(getattr(atomstream, room), room):
                found.setdefault(thing, name)
    return {name: thing for thing, name in found.items()}


def docstrings():
    """Yield the docstrings of the sources."""
    for path in (ROOT / "src/atomstream").glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                yield ast.get_docstring(node) or ""


def examples():
    """Return the words of all examples."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    pages = [page for page in pages if not {"decisions", "lab"} & {*page.parts}]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    code = [
        block for text in texts for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    ]
    code += [path.read_text(encoding="utf-8") for path in ROOT.glob("examples/**/*.py")]
    for path in ROOT.glob("docs/notebooks/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for text in docstrings():
        code += re.findall(r"^\s*(?:>>>|\.\.\.) (.*)$", text, re.M)
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(code)))


def test_every_public_name_has_an_example():
    names, words = public(), examples()
    assert len(names) > 280
    excused = RETURNED | WITH_UPDATERS | BASES | CALLED_BY_RUNS
    missing = {name for name in names if name.rpartition(".")[2] not in words}
    assert missing - excused == set()
    assert excused <= set(names), "no longer public"


def test_what_comes_back_from_a_call_is_a_class():
    names = public()
    assert [
        name for name in RETURNED | WITH_UPDATERS | BASES if not inspect.isclass(names[name])
    ] == []
    assert [name for name in CALLED_BY_RUNS if inspect.isclass(names[name])] == []
