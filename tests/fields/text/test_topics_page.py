"""The words of topics on the page of a report, in a browser."""

import csv
import json

import numpy as np
import pytest
from browser import CHROMIUM, Browser

from atomstream.cli import main

NASTY = "<script>alert(1)</script>"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topics")
    rng = np.random.default_rng(0)
    words = np.array([[f"{kind}{i}" for i in range(12)] for kind in ("alpha", "beta", "gamma")])
    with (folder / "d.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "day"])
        for day in range(60):
            for _ in range(4):
                chosen = rng.choice(words[rng.integers(3)], 8)
                writer.writerow([" ".join([*chosen, NASTY]), f"2020-{1 + day // 28:02}-01"])
    words = ["text", "topics", folder / "d.csv", "--column", "text", "--date", "day"]
    words += ["--topics", 3, "--vectorizer", "counts", "--freq", "month", "--epochs", 3]
    assert main([*map(str, words), "--out", str(folder / "run")]) == 0
    assert main(["report", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def browser(chromium):
    chromium.complaints.clear()
    chromium.requests.clear()
    yield chromium
    assert chromium.complaints == []


def put(browser, selector, value, event):
    found = f"document.querySelector({json.dumps(selector)})"
    browser.run(f"{found}.value = {json.dumps(value)}; {found}.dispatchEvent(new Event('{event}'))")


def test_words_of_topics_are_ordered_by_their_relevance(topics, browser):
    browser.open(topics / "report.html")
    read = (
        "[...document.querySelectorAll('#atom-0 .terms li.shown')].map(i =>"
        " [+i.dataset.share, +i.dataset.lift])"
    )
    for weight in (1.0, 0.0, 0.5):
        put(browser, "#relevance", str(weight), "input")
        terms = np.log(browser.run(read))
        relevance = weight * terms[:, 0] + (1 - weight) * terms[:, 1]
        assert 2 < len(terms) <= 10
        assert (np.diff(relevance) <= 1e-12).all()
    assert browser.run("document.querySelectorAll('#atom-0 .samples li').length") == 4
    put(browser, "#time", "1", "input")
    assert browser.run("document.querySelector('#when').textContent") == "2020-02-01"
