"""Pages show the source as it is, and their links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

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


FRAGMENTS = sorted(ROOT.glob("changelog.d/*.md"))


def test_every_fragment_of_the_changelog_is_joined():
    """A fragment of another name would be passed over in silence; an empty one says nothing."""
    towncrier = pytest.importorskip("towncrier.build")
    done = CliRunner().invoke(towncrier._main, ["--draft", "--dir", str(ROOT)])
    assert done.exit_code == 0, done.output
    assert len(FRAGMENTS) >= 20
    for fragment in FRAGMENTS:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", fragment.name)
        words = fragment.read_text(encoding="utf-8").split()
        assert " ".join(words) in " ".join(done.output.split()), fragment.name
        assert words, fragment.name
