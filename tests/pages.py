"""What the tests of the pages of experiments and of benchmarks share."""

import ast
import re
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPERIMENTS, BENCHMARKS = ROOT / "experiments", ROOT / "benchmarks"
sys.path += [str(EXPERIMENTS), str(BENCHMARKS), str(BENCHMARKS / "judged")]


def missing_names(path):
    """Return the names that a script imports from the library and that it does not have."""
    return [
        each.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("atomstream")
        for each in node.names
        if not hasattr(import_module(node.module), each.name)
    ]


def numbers(value):
    """Yield every number in results."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def block(page, title):
    """Return the first block of code of a section of a page."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    return re.search(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]


CITED = r"([Ff]igure|[Ss]ection|Theorem|Example)s? [\d.]+((,| to| and) [\d.]+)*"


def copied(template, results):
    """Return the decimal numbers written in a template that are numbers of the results, rounded."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template, flags=re.DOTALL)
    text = re.sub(CITED, "", text)
    known = [number for value in numbers(results) for number in (value, 100 * value)]
    return [
        said
        for said in re.findall(r"(?<![\w.,])-?\d+\.\d+", text)
        if any(f"{number:.{len(said.partition('.')[2])}f}" == said for number in known)
    ]


def copied_into(section, folder):
    """Return the numbers that the template of a section copies from its records."""
    template = (folder / f"pages/{section.name}.md.jinja").read_text(encoding="utf-8")
    return copied(template, [record["results"] for record in section.records.values()])


def defined_names(module):
    """Return the public names that a module defines, and those that it lists."""
    own = {name for name, each in vars(module).items() if is_from(module, each)}
    return {name for name in own if not name.startswith("_")} | set(getattr(module, "__all__", ()))


def is_from(module, thing):
    """Return whether a class or function was defined in a module."""
    return getattr(thing, "__module__", None) == module.__name__
