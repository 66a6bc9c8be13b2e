"""Pages show the source as it is, and their links lead somewhere."""

import inspect
import itertools
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from click.testing import CliRunner
from pages import defined_names

import atomstream

ROOT = Path(__file__).parents[2]
LIVE = runpy.run_path(str(ROOT / "docs/live_source.py"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*.md")])


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


def anchors(page):
    """Return what a link into a page may name: its headings and its own marks."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in headings} | set(
        re.findall(r'<a id="([^"]+)">', text)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_into_pages_name_a_place_there(page):
    for target, place in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert place in anchors(page.parent / target if target else page), (target, place)


# -- symbols


def cells(row):
    """Return the number of cells of a row of a table."""
    return len(re.findall(r"(?<!\\)\|", row)) - 1


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "benchmarks/RESULTS.md"], ids=lambda page: page.name
)
def test_the_rule_of_a_table_stands_under_its_header(page):
    """Else a table is shown as lines of text."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = text.split("\n")
    for above, line in itertools.pairwise(lines):
        if re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line):
            assert cells(above) == cells(line), line


ALGORITHMS = sorted(ROOT.glob("docs/algorithms/*.md"))
GREEK = "alpha|beta|delta|epsilon|eta|gamma|kappa|lambda|mu|rho|sigma|tau|theta"
# A capital letter or a Greek one that stands alone, but neither an article nor somebody's initial.
SYMBOL = re.compile(rf"(?<![\w.\"-])([B-HJ-Z](?!\.(?: [A-Z]|-))|{GREEK})(?:bar)?(?=[_^'\W]|$)")


def linked_symbols(page):
    """Return the places on the page of notation that a page begins with, and the texts there."""
    line = re.search(r"^Symbols here: .*$", page.read_text(encoding="utf-8"), re.MULTILINE)[0]
    found = re.findall(r"\[((?:[^\[\]]|\\\])+)\]\(\.\./notation\.md#(symbol-[\w-]+)\)", line)
    return {place for _, place in found}, " ".join(text for text, _ in found)


def used_symbols(page):
    """Return the letters that stand for something on a page, outside of code and of tables."""
    text = re.sub(r"^(Symbols here: |\|).*$", "", page.read_text(encoding="utf-8"), flags=re.M)
    text = re.sub(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", " ", text, flags=re.M | re.S)
    return set(SYMBOL.findall(text))


@pytest.mark.parametrize("page", ALGORITHMS, ids=lambda page: page.stem)
def test_a_page_on_an_algorithm_leads_to_each_symbol_that_it_uses(page):
    _, texts = linked_symbols(page)
    known = set(re.findall(rf"[A-Z]|{GREEK}", texts)) | {"lambda", "kappa"}
    assert used_symbols(page) - known == set(), "name them in the line 'Symbols here'"


def test_every_symbol_of_the_notation_is_led_to_and_stands_there_once():
    there = re.findall(r'<a id="(symbol-[\w-]+)">', (ROOT / "docs/notation.md").read_text())
    assert len(there) == len(set(there)) > 60
    led = set().union(*(linked_symbols(page)[0] for page in ALGORITHMS))
    assert set(there) - led == {"symbol-window"}  # the page on series is a guide


def test_letters_are_told_from_words(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("Symbols here: [x](../notation.md#symbol-sample).\n\n    |x - hD|^2 + A_t\n\n")
    assert linked_symbols(page) == ({"symbol-sample"}, "x")
    page.write_text(
        "L. F. Yang in `B` has F, X^(i) and (C1); the law of S, I do; tau t; R_r. A Q' B."
    )
    assert used_symbols(page) == {"F", "X", "S", "tau", "R", "Q", "B"}


FRAGMENTS = sorted(ROOT.glob("changelog.d/*.md"))


def test_every_fragment_of_the_changelog_is_joined():
    """A fragment of another name would be passed over in silence; an empty one says nothing."""
    towncrier = pytest.importorskip("towncrier.build")
    done = CliRunner().invoke(towncrier._main, ["--draft", "--dir", str(ROOT)])
    assert done.exit_code == 0, done.output
    for fragment in FRAGMENTS:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", fragment.name)
        words = fragment.read_text(encoding="utf-8").split()
        assert " ".join(words) in " ".join(done.output.split()), fragment.name
        assert words, fragment.name


# -- parameters and their defaults


def listed():
    """Yield every class and function that a module defines, and the public methods of classes."""
    for module in walk_packages(atomstream.__path__, "atomstream."):
        if "__main__" not in module.name:
            home = import_module(module.name)
            for thing in (getattr(home, name) for name in defined_names(home)):
                if inspect.isclass(thing) or inspect.isfunction(thing):
                    yield thing
                methods = vars(thing).items() if inspect.isclass(thing) else ()
                yield from (
                    method
                    for name, each in methods
                    if inspect.isfunction(method := getattr(each, "__func__", each))
                    and not name.startswith("_")
                )


def parameters(thing):
    """Yield the name of each documented parameter and what is said of its type and default."""
    doc = inspect.cleandoc(thing.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    if section:
        # What is said may go on in the next line, which is not indented and has no colon.
        head = r"^(\w[^\n]*?) : (.*(?:\n\S[^:\n]*$)*)"
        for names, said in re.findall(head, section[1], re.MULTILINE):
            yield from ((name.strip(), " ".join(said.split())) for name in names.split(","))


def test_documented_defaults_are_those_of_the_signature():
    wrong, n_seen = [], 0
    for thing in {f"{it.__module__}.{it.__qualname__}": it for it in listed()}.values():
        documented = list(parameters(thing))
        signature = inspect.signature(thing).parameters if documented else {}
        for name, said in documented:
            actual = signature[name].default if name in signature else inspect.Parameter.empty
            what = f"{thing.__qualname__}, {name} : {said}, and it is {actual!r}"
            if "default=" in said:
                n_seen += 1
                # A constructor may come from the class below, and its names from there.
                places = [kind.__module__ for kind in getattr(thing, "__mro__", [thing])]
                known = {"inf": float("inf")}
                for place in reversed(places):
                    known |= vars(sys.modules[place])
                if eval(said.partition("default=")[2], known) != actual:
                    wrong.append(what)
            elif actual is None:
                wrong += [what] * (not re.search(r"optional|ignored|None", said))
            elif actual is not inspect.Parameter.empty:
                wrong.append(what)
    assert wrong == []
    assert n_seen > 250
