"""Pages show the source as it is, and their links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIVE = runpy.run_path(str(ROOT / "docs/live_source.py"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def live_sources():
    return [
        (page.name, *match[1:4])
        for page in PAGES
        for match in LIVE["BLOCK"].findall(page.read_text())
    ]


@pytest.mark.parametrize(
    ("page", "place", "name", "shown"), live_sources(), ids=lambda v: str(v)[:40]
)
def test_source_shown_in_the_documentation_is_the_source(page, place, name, shown):
    assert shown == LIVE["source"](place, name)


def test_the_documentation_shows_source():
    assert len(live_sources()) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
