"""Pages of experiments say what the files of results say, and every result stands on a page."""

import functools
import re
from importlib import import_module

import pytest
from pages import EXPERIMENTS, ROOT, copied, copied_into, missing_names

records, write_pages = import_module("records"), import_module("write_pages")
templates = import_module("templates")

PAGES = sorted(path.name for path in EXPERIMENTS.glob("*.md"))
TEMPLATES = sorted(path.name for path in EXPERIMENTS.glob("pages/*.md.jinja"))
RECORDS = sorted(path.stem for path in EXPERIMENTS.glob("results/*.json"))
PICTURES = sorted(path.stem for path in EXPERIMENTS.glob("results/*.png"))


@functools.cache
def pages():
    return write_pages.pages()


@functools.cache
def sections():
    return write_pages.sections()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_template_and_the_results_give(name):
    """If this fails, run experiments/write_pages.py."""
    assert (EXPERIMENTS / name).read_text(encoding="utf-8") == pages()[name]


def test_there_is_a_page_for_each_paper():
    assert sorted(pages()) == PAGES
    assert len(PAGES) == 6


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_names_its_commit_and_date(name):
    record = records.load(name)
    old = {"commit", "changed", "date", "seconds", "versions", "results"}
    assert set(record) in (old, old | {"machine"})
    assert re.fullmatch(r"[0-9a-f]{7,40}", record["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["results"]


def test_every_script_has_one_section_and_every_section_a_script():
    scripts = sorted(path.name for path in EXPERIMENTS.glob("exp_*.py"))
    assert sorted(section.said.script for section in sections()) == scripts
    assert len(scripts) >= 30


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.py")), ids=lambda path: path.stem)
def test_a_script_imports_names_that_the_library_has(path):
    assert missing_names(path) == []


def test_the_index_says_what_came_out_of_every_experiment():
    index = pages()["README.md"]
    headings = [f"## {heading}" for heading, _ in write_pages.VERDICTS.values()]
    found = re.findall(r"^## .*$", index, re.MULTILINE)
    assert found == [*headings, "## Data that cannot be had"]
    assert "differ" in headings[0], "contradictions come first"
    for section in sections():
        assert section.said.verdict in write_pages.VERDICTS
        assert index.count(f"#{section.name})") == 1
        assert len(str(section.said.finds).split()) >= 5, section.name


def test_what_is_in_print_stands_beside_what_we_found():
    for section in sections():
        rows = getattr(section.said, "printed", [])
        assert bool(rows) == (section.said.verdict != "own question"), section.name
        for row in rows:
            assert len(row) == 3
            assert all(str(cell).strip() for cell in row), section.name
            assert "| {} | {} | {} |".format(*row) in pages()[section.page]


def test_every_experiment_has_a_figure():
    assert [section.name for section in sections() if not section.figures] == []


def test_every_record_is_read_by_one_section():
    assert sorted(name for section in sections() for name in section.records) == RECORDS


def test_every_picture_is_shown_once_with_a_caption():
    shown = [name for section in sections() for name in section.figures]
    assert sorted(shown) == PICTURES
    text = "\n".join(pages().values())
    for name in PICTURES:
        caption = re.search(rf"\(results/{re.escape(name)}\.png\)\n\n\*([^*]+)\*\n", text)
        assert caption, name
        assert len(caption[1].split()) >= 5, name


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small(name):
    assert (EXPERIMENTS / f"results/{name}.png").stat().st_size < 400_000


# -- numbers in templates


@pytest.mark.parametrize("template", TEMPLATES)
def test_measured_numbers_are_read_and_not_copied(template):
    (section,) = (each for each in sections() if f"{each.name}.md.jinja" == template)
    assert copied_into(section, EXPERIMENTS) == []


def test_a_copied_number_is_seen():
    results = {"error": [0.0604, {"share": 0.2351}], "seeds": 3}
    template = (
        "{{ r.error }} 0.060 is measured, 0.061 is not; 23.5 %, {% if 0.06 %} 0.06 and 3; "
        "figures 0.06 and 23.5"
    )
    assert copied(template, results) == ["0.060", "23.5", "0.06"]


# -- numbers on pages of the documentation


def page_of(name):
    """Return a page of the documentation with single spaces."""
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


def test_the_page_of_series_says_how_defaults_forecast():
    page = page_of("how-to/time-series.md")
    judged = records.load("003-1-forecasts")["results"]["judged on"]
    assert len(judged) == 14
    for name, row in judged.items():
        errors = [f"{row[key]:.3f}" for key in ("persistence", "seasonal", "default")]
        rest = [f"{row['ratio']:.2f}", f"{row['chosen']:.3f}", f"{row['runs that warn']} of 3"]
        assert f"| {' | '.join([name, *errors, *rest])} |" in page


def test_the_page_on_the_theorem_says_what_the_guarantee_costs():
    page, found = page_of("algorithms/inside-the-theorem.md"), records.load("000-2-defaults")
    inside, default = (found["results"][name] for name in ("convergent", "defaults"))
    for place, n in enumerate(found["results"]["batches"]):
        row = [f"{n:,} batches"]
        for key in ("expected loss", "stationarity"):
            row += [f"{side[key][place]:.4f}" for side in (inside, default)]
        assert f"| {' | '.join(row)} |" in page


def test_the_page_of_networks_says_what_was_measured():
    page, found = page_of("algorithms/network-dictionaries.md"), records.load("000-11")["results"]
    for name, of in found.items():
        for chain, short in (("pivot", "pivot"), ("approximate_pivot", "approximate")):
            for task in ("hidden", "planted"):
                row = of[task]
                cells = [name, short, task, templates.percent(row[f"coverage, {chain}"], 1)]
                methods = (f"dictionary, {chain}", "Jaccard")
                cells += [f"{row[method]['mean']:.3f}" for method in methods]
                assert f"| {' | '.join(cells)} |" in page


def test_the_page_of_networks_says_what_motifs_show():
    page = page_of("algorithms/network-dictionaries.md")
    found = records.load("000-11-motifs")["results"]
    for motif, row in found["motifs"].items():
        cells = [f"`{motif}`", str(row["free pairs"])]
        cells += [f"{value:.1f}" for value in (*row["shown"].values(), row["seconds"])]
        assert f"| {' | '.join(cells)} |" in page
    for name, row in found["links"].items():
        cells = [f"{name}, {row['edges']:,} edges", *(f"{a:.3f}" for a in row["areas"].values())]
        assert f"| {' | '.join(cells)} |" in page
    few, on = found["20,000 copies"], found["entries on the motif"]
    share = templates.percent
    jaccard, fitted = (found["fitted"][name] for name in ("Jaccard", "fitted"))
    for said in (
        f"visit {share(found['coverage']['glauber'], 1)} of the edges of ego-Facebook",
        f"the pivot chain visits {share(found['coverage']['pivot'])}",
        f"would fall from {on['left out']:.2f} to {on['counted']:.2f}",
        f"{few['area of means']:.3f} and {few['area of scores']:.3f} for hidden edges of Caltech",
        f"{few['top of means']:.2f} and {few['top of scores']:.2f} at the top",
        f"with an area of {jaccard[0]:.2f} against {fitted[0]:.2f}",
        f"the difference is smaller ({sum(jaccard) / 6:.2f} and {sum(fitted) / 6:.2f})",
    ):
        assert said in page


def test_the_page_of_coding_says_how_exact_codes_must_be():
    page, found = page_of("algorithms/sparse-coding.md"), records.load("000-2-coding")["results"]
    for tol, row in found["tolerances"].items():
        cells = [f'"{tol}"' if tol.isalpha() else tol]
        cells += [
            f"{round(of['rows per second'], -3):,.0f} {of['error']:.4f}"
            for of in row["patches"].values()
        ]
        cells += [f"{value:.3f}" for value in row["digits"].values()]
        cells += [f"{value:.2f}" for value in row["500 x 20"].values()]
        assert f"| {' | '.join(cells)} |" in page
    for alpha, row in found["warm starts"].items():
        assert f"| {alpha} | {' | '.join(f'{value:.1f}' for value in row.values())} |" in page


# -- records


def test_a_record_holds_plain_numbers_and_says_where_it_comes_from(tmp_path, monkeypatch):
    import numpy as np

    book = records.Records(tmp_path / "results", ("numpy", "atomstream", "not-installed"))
    monkeypatch.setattr(
        records, "_git", lambda *words: "abc1234" if words[0] == "rev-parse" else " M src/a.py"
    )
    book.save("x", {1: np.float32(0.5), "a": np.array([1, 2]), "b": (np.nan, np.inf)}, seconds=2)
    record = book.load("x")
    assert record["results"] == {"1": 0.5, "a": [1, 2], "b": [None, None]}
    assert (record["commit"], record["changed"], record["seconds"]) == ("abc1234", True, 2)
    assert set(record["versions"]) == {"numpy", "atomstream"}
    assert set(record["machine"]) == {"processor", "cores", "python"}


def test_a_section_says_if_the_code_had_changes_and_on_which_processor_it_ran():
    record = {"commit": "abc1234", "changed": True, "date": "2026-01-02", "seconds": 61.0}
    record |= {"machine": {"processor": "Maker(R) Chip(R) Processor"}}
    said = templates.source("x", record | {"versions": {"numpy": "2"}})
    assert said == "x: commit abc1234 with uncommitted changes, 2026-01-02, 61 s on Maker Chip."
    said = templates.source("x", record | {"changed": False, "versions": {"numpy": "2"}})
    assert "uncommitted" not in said


def test_numbers_are_written_as_a_reader_expects_them():
    assert templates.number(1234.5678, 1) == "1,234.6"
    assert templates.number(-0.001, 2) == "0.00"
    assert templates.percent(0.1234, 1) == "12.3 %"
    assert templates.short(26_214_954.5) == "2.62e7"
    assert templates.short(0.0804170) == "0.0804"
    steps = [1, 2, 4, 8]
    assert templates.exponent([9, 3 * 2**-0.5, 3 / 2, 9], steps, 2, 4) == pytest.approx(-0.5)
