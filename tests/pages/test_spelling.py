"""One spelling in what people read: British, and -ise, but for the field's names.

A name that scikit-learn, matplotlib or the field writes in the American way keeps its form, in code
and where a page speaks of it: factorization, vectorizer, normalize=, color=, center=.
"""

import ast
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from pages import defined_names

import atomstream

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "paper/paper")),
    *(page for page in ROOT.glob("docs/**/*.md") if page.parent.name not in {"decisions", "lab"}),
]
SCRIPTS = sorted(ROOT.glob("examples/**/*.py"))
SOURCES = sorted((ROOT / "src/atomstream").glob("**/*.py"))
# Begins of words that are written in the other way here.
AMERICAN = re.compile(
    r"\b(?:colou?rize|color|behavior|center(?:ed|ing)\b|neighbor|gray|favor|honor\b|catalog\b"
    r"|artifact|analyz|labeled|labeling|modeled|modeling|canceled|canceling|fulfill\b|defense"
    r"|skeptic|(?:un|de|re|pre)?(?:normal|optim|initial|serial|minim|maxim|standard|organ|recogn"
    r"|summar|random|major|penal|special|local|general|regular|parallel|util|visual|stabil"
    r"|symmetr|linear|emphas|token|orthogonal|real|categor|character|equal|quant)iz(?:e|i|a))\w*",
    re.IGNORECASE,
)
THEIRS = ("Color", "color", "Normalized")
# Names of others in running text.
NAMES = re.compile(
    r"color-scheme|interpolate linalg ndimage optimize|normalize leaves"  # CSS, SciPy, a method
)


def american(text):
    """Return the words of a text in the other spelling; code is left out."""
    code = r"^```.*?^```|``.*?``|`[^`]*`|\]\([^)]*\)|^:link.*?$"
    return AMERICAN.findall(NAMES.sub(" ", re.sub(code, " ", text, flags=re.M | re.S)))


def prose(path):
    """Return the docstrings and messages of a file, without examples, types and references."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value.split()) > 3
    ]
    others = r"^\s*(?:>>>|\.\.\. ).*$|^ *[\w, *]+ : .*$|^ *References\n *-+\n(?:.+\n)*"
    return re.sub(others, " ", "\n".join(texts), flags=re.M)


def test_the_other_spelling_is_seen():
    assert american("The `color` of a colour: behavior, Normalized, centering") == [
        "behavior",
        "Normalized",
        "centering",
    ]
    assert american("behaviour, normalised, a factorization, the size of a prize") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_one_spelling(page):
    assert american(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_have_one_spelling(script):
    assert american(prose(script)) == []
    comments = re.findall(r"^# (.*)$", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert american("\n".join(comments)) == []


def test_docstrings_and_messages_have_one_spelling():
    wrong = {path.relative_to(ROOT): found for path in SOURCES if (found := american(prose(path)))}
    assert len(SOURCES) > 300
    assert wrong == {}


def test_names_have_one_spelling_each():
    """Other forms than ours are those of scikit-learn, matplotlib and networkx, and listed."""
    names = {
        name
        for module in walk_packages(atomstream.__path__, "atomstream.")
        if "__main__" not in module.name
        for name in defined_names(import_module(module.name))
    }
    parts = {part for name in names for part in re.findall(r"[A-Z]?[a-z]+", name)}
    assert len(names) > 500
    assert {part for part in parts if AMERICAN.fullmatch(part)} == set(THEIRS)
