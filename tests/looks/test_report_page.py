"""The page of a report in a browser: each control does what it says, and nothing is executed."""

import csv
import json
import time

import numpy as np
import pytest
from browser import CHROMIUM, Browser

import atomstream
from atomstream.cli import main
from atomstream.looks.canvas import by_similarity

NASTY = [
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "{{ 7 * 7 }}",
    "日本 & <b>",
    "</style>]]>-->",
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    X = np.random.default_rng(0).random((400, 6)).round(4)
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NASTY, *X.tolist()])
    words = ["learn", folder / "t.csv", "--atoms", 4, "--batch-size", 40, "--epochs", 3]
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


SHOWN = "[...document.querySelectorAll('.atom:not([hidden])')].map(c => +c.dataset.number)"


def put(browser, selector, value, event):
    found = f"document.querySelector({json.dumps(selector)})"
    browser.run(f"{found}.value = {json.dumps(value)}; {found}.dispatchEvent(new Event('{event}'))")


def test_names_stay_names_and_nothing_is_asked_for(run, browser):
    page = run / "report.html"
    browser.open(page)
    assert [url for url in browser.requests if not url.startswith("data:")] == [page.as_uri()]
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.images.length") == browser.run(
        "[...document.images].filter(i => i.src.startsWith('data:') && i.naturalWidth).length"
    )
    text = browser.run("document.body.innerText")
    assert any(name in text for name in NASTY)
    assert "49" not in browser.run("document.querySelector('#atom-0').innerText").split()


def test_search_sort_and_show(run, browser):
    browser.open(run / "report.html")
    importance = browser.run(SHOWN)
    assert len(importance) == 4
    for name in ("importance", "error", "change"):
        put(browser, "#sort", name, "change")
        values = browser.run(f"[...document.querySelectorAll('.atom')].map(c => +c.dataset.{name})")
        assert len(values) == 4
        assert values == sorted(values, reverse=True)
        assert len(set(values)) == 4
    put(browser, "#sort", "similarity", "change")
    order = by_similarity(atomstream.load(run).components_[importance])
    assert browser.run(SHOWN) == [importance[place] for place in order]
    put(browser, "#sort", "number", "change")
    assert browser.run(SHOWN) == [0, 1, 2, 3]
    put(browser, "#search", "atom 2", "input")
    assert 2 in browser.run(SHOWN)
    put(browser, "#search", "no such word", "input")
    assert browser.run(SHOWN) == []
    assert browser.run("document.querySelector('#told').textContent").startswith("0 of 4 shown")


def test_time_moves_a_mark_and_can_sort(run, browser):
    browser.open(run / "report.html")
    put(browser, "#sort", "share at the time", "change")
    put(browser, "#time", "0", "input")
    courses = browser.run(
        "[...document.querySelectorAll('.atom')].map(c =>"
        " +c.querySelector('.course').dataset.course.split(' ')[0])"
    )
    assert courses == sorted(courses, reverse=True)
    shown = browser.run("document.querySelector('.atom p.now').textContent")
    share, _, moment = shown.partition(" % at ")
    assert float(share.removeprefix("share ")) == pytest.approx(100 * courses[0], rel=5e-3)
    assert moment == browser.run("document.querySelector('#when').textContent")
    assert browser.run("document.querySelector('line.now').getAttribute('x1')") == "0"


def test_time_moves_the_pictures_of_the_atoms(run, browser):
    browser.open(run / "report.html")
    looks = "[...document.querySelectorAll('#atom-0 .look')]"
    visible = f"{looks}.map(l => getComputedStyle(l).display !== 'none')"
    n_looks = browser.run(f"{looks}.length")
    assert n_looks > 3
    assert browser.run(visible) == [False] * (n_looks - 1) + [True]
    put(browser, "#time", "0", "input")
    assert browser.run(visible) == [True] + [False] * (n_looks - 1)
    put(browser, "#time", "1000000", "input")
    assert browser.run(visible) == [False] * (n_looks - 1) + [True]


def wait(browser, script, wanted):
    for _ in range(200):
        if browser.run(script) == wanted:
            break
        time.sleep(0.02)
    assert browser.run(script) == wanted


def test_what_cannot_be_is_refused_and_all_edits_can_be_undone(run, browser, tmp_path):
    browser.open(run / "report.html")
    told, state = (
        f"document.querySelector('{part}').textContent" for part in ("#told", "#atom-0 .state")
    )
    for text in ("0", "77", "1.5"):
        put(browser, "#atom-0 .merge", text, "change")
        assert browser.run(told).endswith(f"{text} is no other atom")
        assert browser.run("document.querySelector('#atom-0 .merge').value") == ""
    for text, wanted in (("1", "in 1"), ("", "")):
        put(browser, "#atom-0 .merge", text, "change")
        assert browser.run(state) == wanted
    browser.run("document.querySelector('#atom-0 .accept').click()")
    assert browser.run(state) == "accepted"
    for number, text in enumerate(("no JSON", '{"atoms": 9, "edits": []}', '{"edits": [null]}')):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        browser.run("document.querySelector('#told').textContent = ''")
        browser.choose("#load", path)
        wait(browser, f"{told}.includes('This list of edits cannot be read')", True)
        assert browser.run(state) == "accepted"
    browser.run("document.querySelector('#reset').click()")
    assert browser.run(state) == ""
    good = {"atoms": 4, "edits": [{"atom": 0, "state": "rejected"}, {"atom": 88, "name": "gone"}]}
    (tmp_path / "good.json").write_text(json.dumps(good))
    for _ in range(2):
        browser.choose("#load", tmp_path / "good.json")
        wait(browser, state, "rejected")
        browser.run("document.querySelector('#reset').click()")
        assert browser.run(state) == ""


def test_the_search_reads_what_is_said_of_an_atom_and_not_the_controls(run, browser):
    browser.open(run / "report.html")
    for word, n_shown in (("merge", 0), ("reject", 0), ("importance", 4)):
        put(browser, "#search", word, "input")
        assert len(browser.run(SHOWN)) == n_shown
    browser.run("document.querySelector('#atom-0 summary').click()")
    assert browser.run("document.querySelector('#atom-0 details').open") is False


def test_edits_are_saved_and_applied(run, browser, tmp_path, capsys):
    browser.downloads(tmp_path)
    browser.open(run / "report.html")
    put(browser, "#atom-0 .rename", "<b>rain</b>", "input")
    browser.run("document.querySelector('#atom-0 .accept').click()")
    browser.run("document.querySelector('#atom-1 .reject').click()")
    put(browser, "#atom-2 .merge", "0", "change")
    browser.run("document.querySelector('#atom-3 .hide').click()")
    assert 3 not in browser.run(SHOWN)
    put(browser, "#show", "accepted", "change")
    assert browser.run(SHOWN) == [0]
    browser.run("document.querySelector('#save').click()")
    saved = tmp_path / "edits.json"
    for _ in range(200):
        if saved.exists() and saved.stat().st_size:
            break
        time.sleep(0.02)
    edits = json.loads(saved.read_text(encoding="utf-8"))["edits"]
    wanted = [
        {"atom": 0, "name": "<b>rain</b>", "state": "accepted"},
        {"atom": 1, "state": "rejected"},
        {"atom": 2, "into": 0},
        {"atom": 3, "hidden": True},
    ]
    assert edits == wanted
    capsys.readouterr()
    assert main(["edit", str(run), str(saved), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert [counts[name] for name in ("renamed", "accepted", "rejected", "hidden", "merged")] == (
        [1] * 5
    )
    assert main(["report", str(run)]) == 0
    browser.open(run / "report.html")
    assert browser.run("document.querySelector('#atom-0 .name').innerHTML") == (
        "&lt;b&gt;rain&lt;/b&gt;"
    )
    assert browser.run("document.querySelector('#atom-2 .state').textContent") == "in 0"
    browser.run("document.querySelector('#atom-1 .accept').click()")
    browser.choose("#load", saved)
    state = "document.querySelector('#atom-1 .state').textContent"
    wait(browser, state, "rejected")
    (run / "edits.json").unlink()


def test_a_chosen_atom_is_marked_where_it_is_used(run, browser):
    browser.open(run / "report.html")
    browser.run("location.hash = '#atom-2'")
    linked = "document.querySelectorAll('.samples li.linked').length"
    for _ in range(100):
        if browser.run(linked):
            break
    uses = "[...document.querySelectorAll('.samples li')].map(i => i.dataset.uses.split(' '))"
    assert browser.run(linked) == sum("2" in found for found in browser.run(uses)) > 0
    assert browser.run("document.querySelector('.atom.chosen').id") == "atom-2"


def test_the_keyboard_is_enough(run, browser):
    browser.open(run / "report.html")
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    reached = set()
    for _ in range(60):
        browser.press("Tab")
        reached.add(browser.run("document.activeElement.id || document.activeElement.className"))
    assert {"sort", "show", "time", "save", "load", "reset", "rename", "accept"} <= reached
    pressed = "document.querySelector('#atom-0 .accept').getAttribute('aria-pressed')"
    seen = [browser.run(pressed)]
    browser.run("document.querySelector('#atom-0 .accept').focus()")
    for key in ("Enter", " "):
        browser.press(key)
        seen.append(browser.run(pressed))
    assert seen in (["true", "false", "true"], ["false", "true", "false"])
    unnamed = "[...document.querySelectorAll('input, select')].filter(i => !i.labels.length).length"
    assert browser.run(unnamed) == 0


def contrast(one, other):
    def light(colour):
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark_and_controls_are_not_printed(run, browser, scheme):
    browser.emulate(prefers_color_scheme=scheme)
    browser.open(run / "report.html")
    style = "getComputedStyle(document.querySelector('{}')).{}"
    backs = {browser.run(style.format(part, "backgroundColor")) for part in ("body", ".atom")}
    for part in ("body", "h3 a", ".note", ".state", ".tools label"):
        colour = browser.run(style.format(part, "color"))
        assert min(contrast(colour, back) for back in backs) >= 4.5  # WCAG 2.1, 1.4.3
    browser.emulate(media="print", prefers_color_scheme=scheme)
    assert browser.run(style.format("#tools", "display")) == "none"
    assert browser.run(style.format("body", "backgroundColor")) == "rgb(255, 255, 255)"
