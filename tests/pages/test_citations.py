"""The five papers are cited alike, and by their right names, wherever they are cited."""

import re
from pathlib import Path

import pytest

import atomstream

ROOT = Path(__file__).parents[2]
PAPERS = {
    "Online matrix factorization for Markovian data and applications to network dictionary "
    "learning": (["Lyu", "Needell", "Balzano"], 2020),
    "Online convex matrix factorization with representative regions": (
        ["Agarwal", "Peng", "Milenkovic"],
        2019,
    ),
    "Online factorization and partition of complex networks from random walks": (
        ["Yang", "Braverman", "Zhao", "Wang"],
        2017,
    ),
    "Online nonnegative CP-dictionary learning with applications to multimodal data": (
        ["Strohmeier"],
        2023,
    ),
    "Online nonnegative matrix factorization with general divergences": (
        ["Zhao", "Tan", "Xu"],
        2017,
    ),
}
# Citations of the thesis that were wrong once: another author, another title, another year.
WRONG = (
    r"Lyu(?:'s thesis| \(?2022\b)|dependent data samples|Strohmeier \(2021\)"
    r"|CP[- ]dictionaries and applications"
)


def cited_in_cff():
    """Return title -> (family names, year) of the references in CITATION.cff."""
    references = (ROOT / "CITATION.cff").read_text().partition("references:")[2]
    return {
        re.search(r"title: (.*)", entry)[1]: (
            re.findall(r"family-names: (.*)", entry),
            int(re.search(r"year: (\d+)", entry)[1]),
        )
        for entry in references.split("\n  - type:")[1:]
    }


def cited_in_bibtex():
    """Return title -> (family names, year) of the entries with a year in docs/citing.md."""
    text = (ROOT / "docs/citing.md").read_text()
    fields = [dict(re.findall(r"(\w+) *= \{(.*)\}", it)) for it in text.split("\n@")[1:]]
    return {
        re.sub("[{}]", "", it["title"]): (
            [name.split(",")[0] for name in it["author"].split(" and ")],
            int(it["year"]),
        )
        for it in fields
        if "year" in it
    }


@pytest.mark.parametrize("cited", [cited_in_cff, cited_in_bibtex])
def test_all_five_papers_are_listed(cited):
    assert cited() == PAPERS


def test_the_library_itself_is_listed_in_its_version():
    version = rf"version\W+{re.escape(atomstream.__version__)}\b"
    for name in ("CITATION.cff", "docs/citing.md"):
        assert re.search(version, (ROOT / name).read_text()), name


def test_nobody_else_is_cited_for_the_thesis():
    pages = [
        *ROOT.glob("*.md"),
        *(path for top in ("src", "docs", "experiments") for path in (ROOT / top).rglob("*.py")),
        *(path for top in ("docs", "experiments") for path in (ROOT / top).rglob("*.md")),
    ]
    assert len(pages) > 100
    wrong = {
        path.name: found
        for path in pages
        if (found := re.findall(WRONG, " ".join(path.read_text(encoding="utf-8").split())))
    }
    assert not wrong
