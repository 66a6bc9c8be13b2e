"""Decisions are short, each says in a sentence what it is, and the index is made of these."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def index():
    spec = importlib.util.spec_from_file_location("decisions", ROOT / "docs/decisions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.page()


def test_the_index_is_what_its_script_writes():
    page = (ROOT / "docs/decisions/index.md").read_text(encoding="utf-8")
    assert page == index(), "run python docs/decisions.py"
    assert page.count("](") >= 37


def test_decisions_are_half_a_page():
    found = [
        path.name
        for path in (ROOT / "docs/decisions").glob("[0-9]*.md")
        if len(path.read_text(encoding="utf-8").splitlines()) > 45
    ]
    assert found == []
