"""Pages of the documentation say of speeds and errors what the records of benchmarks say."""

import pytest
from doc_figures import algorithms, coming_from, first_pages, how_to, promises
from pages import ROOT

FOLDERS = (first_pages, promises, algorithms, coming_from, how_to)
TOLD = [
    (page, words) for folder in FOLDERS for page, told in folder.PAGES.items() for words in told()
]


@pytest.mark.parametrize(("page", "words"), TOLD)
def test_pages_say_what_was_measured(page, words):
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert words in " ".join(text.split())
