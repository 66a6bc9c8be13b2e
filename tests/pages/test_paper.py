"""The paper and the lists beside it: what they cite is listed, and their links and numbers hold."""

import re
import tomllib
from pathlib import Path

import pytest

import atomstream

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(encoding="utf-8"), re.M)
SECTIONS = (
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
)


def test_the_paper_has_the_sections_and_the_length_that_are_asked_for():
    assert tuple(re.findall(r"^# (.+)$", PAPER, re.MULTILINE)) == SECTIONS
    body = PAPER.split("---\n", 2)[2]
    assert 750 <= len(body.split()) <= 1750


def test_what_the_paper_cites_is_listed_once_and_the_other_way_round():
    assert sorted(ENTRIES) == sorted(set(re.findall(r"@(\w+\d{4}\w+)", PAPER)))


def test_what_only_the_owner_can_say_is_marked():
    disclosure = PAPER.partition("# AI usage disclosure")[2].partition("# Acknowledgements")[0]
    assert disclosure.strip().startswith("OWNER: this paragraph is left to you.")


@pytest.mark.parametrize("page", ["checklist.md"])
def test_every_line_of_the_checklist_is_answered_and_leads_somewhere(page):
    text = (ROOT / "paper" / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / "paper" / target).exists(), target
    rows = re.findall(r"^\| (?!line|-)[^|]+\| ([^|]+) \|", text, re.MULTILINE)
    assert len(rows) > 40
    answers = r"(yes|no|in part|owner)(, has not run yet|; owner)?"
    assert [row for row in rows if not re.fullmatch(answers, row)] == []


def numbers(*places):
    """Return the text of the pages that a number must stand on."""
    return " ".join((ROOT / place).read_text(encoding="utf-8") for place in places)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("0.096", "| atomstream, defaults | 0.096"),
        ("0.102", "| batch NMF | 0.102"),
        ("0.107", "| SPAMS lambda=0.03 batch=64 | 0.107"),
        ("22 seconds", "2,000 genes take 22 s of one core"),
        ("347 seconds", "take 347 s"),
        ("4.2 MB", "memory grew by 4.2 MB"),
        ("13 of 21 tables", "13 of 21 tables"),
    ],
)
def test_numbers_of_the_paper_are_those_of_the_pages(said, there):
    assert said in " ".join(PAPER.split())
    pages = numbers(
        "benchmarks/RESULTS.md", "docs/coming-from/cnmf.md", "docs/why.md", "docs/measured.md"
    )
    assert there in " ".join(pages.split())


def test_the_paper_counts_the_experiments():
    index = (ROOT / "experiments/README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \[00\d-", index, re.MULTILINE)) > 40
    assert "in more than 40 experiments" in " ".join(PAPER.split())


def test_the_entry_for_the_list_of_packages_is_that_of_the_package():
    yaml = pytest.importorskip("yaml")
    entry = yaml.safe_load((ROOT / "paper/scverse/meta.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert entry["name"] == entry["install"]["pypi"] == project["name"]
    assert entry["license"] == project["license"]
    assert entry["version"] == atomstream.__version__
    assert entry["project_home"] == project["urls"]["Source"]
    assert entry["documentation_home"] == project["urls"]["Documentation"]
