"""Write the pages of experiments from their templates and from the numbers of their results.

Each file ``pages/<name>.md.jinja`` is the section of one experiment. It sets ``ids``, ``title``,
``script``, and for the index ``asks`` (the question), ``verdict`` (a key of `VERDICTS`) and
``finds`` (what came out, in a sentence or two), and reads numbers by ``results(name)``, which is
what ``results/<name>.json`` holds; ``figure`` shows ``results/<name>.png`` with a caption. If the
paper says something to compare with, the template sets ``printed``: rows of what is compared, what
the paper has, and what we have. A number that the file does not have is an error, and a test
refuses measured numbers that are written out; a published number that equals a measured one by
chance stands in braces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill

from records import load
from templates import Section, environment, wrapped

FOLDER = Path(__file__).parent
PAPERS = {
    "000": ("online-factorization", "Online matrix factorization of Markovian data"),
    "001": ("convex", "Online convex matrix factorization"),
    "002": ("walks", "Factorization of random walks"),
    "003": ("tensors-and-series", "Tensors, time series, videos and images"),
    "004": ("divergences", "Online factorization with other divergences"),
}


@dataclass
class Experiment(Section):
    """A section about one experiment, with the figures that it shows."""

    figures: list[str] = field(default_factory=list)

    def figure(self, name: str, caller: Callable[[], str]) -> str:
        """Return a figure with its caption under it."""
        self.figures.append(name)
        caption = " ".join(caller().split())
        return f"![{caption.split('. ')[0].rstrip('.')}](results/{name}.png)\n\n*{caption}*\n"

    @property
    def page(self) -> str:
        """The file that the section is part of."""
        return f"{self.name[:3]}-{PAPERS[self.name[:3]][0]}.md"

    def __str__(self) -> str:
        said = self.said
        lines = [f'<a id="{self.name}"></a>', "", f"## {said.ids}: {said.title}", ""]
        script = f"Script: [{said.script}]({said.script})."
        outcome = fill(f"**{VERDICTS[said.verdict][1]}** {' '.join(str(said.finds).split())}", 100)
        lines += [outcome, "", *compared(getattr(said, "printed", []))]
        return "\n".join(
            [*lines, wrapped(str(said)), "", f"<sub>{script} {self.sources}</sub>", ""]
        )


def compared(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the lines of the table of what a paper has and what we have, empty without rows."""
    table = [f"| {what} | {theirs} | {ours} |" for what, theirs, ours in rows]
    return ["| what | in print | here |", "|---|---|---|", *table, ""] if table else []


def sections() -> list[Experiment]:
    """Return all experiments in the order of their pages."""
    templates, found = environment(FOLDER / "pages"), []
    for path in sorted((FOLDER / "pages").glob("*.md.jinja"), key=order):
        section = Experiment(path.name.removesuffix(".md.jinja"), load)
        section.read(templates, figure=section.figure)
        found.append(section)
    return found


def order(path: Path) -> list[tuple[int, str]]:
    """Return what to sort by: numbers as numbers, words after them."""
    parts = re.findall(r"\d+|[a-z]+", path.name.removesuffix(".md.jinja"))
    return [(int(part), "") if part.isdigit() else (10**6, part) for part in parts]


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    found = sections()
    tables = "\n".join(
        verdict_table(found, verdict, heading) for verdict, (heading, _) in VERDICTS.items()
    )
    papers = {f"{id_}-{name}.md": title for id_, (name, title) in PAPERS.items()}
    made = {
        page: "\n".join(
            [f"# {title}", "", "[All experiments](README.md)", ""]
            + [str(each) for each in found if each.page == page]
        )
        for page, title in papers.items()
    }
    return {"README.md": f"{INTRODUCTION}{origins(found)}\n\n{tables}\n{missing()}"} | made


def origins(found: list[Experiment]) -> str:
    """Return a sentence on the code that gave the results."""
    records = {name: record for each in found for name, record in each.records.items()}
    counts = Counter(each["commit"] for each in records.values())
    told = [f"{number} of commit {commit}" for commit, number in counts.most_common()]
    return fill(f"Results shown: {'; '.join(told)}.", 100)


def missing() -> str:
    """Return the section about data that we do not have."""
    rows = [f"| {ids} | {what} | {why} | {instead} |" for ids, what, why, instead in MISSING]
    head = ["| id | missing | why | instead |", "|---|---|---|---|"]
    return "\n".join(["## Data that cannot be had", "", *head, *rows, ""])


def verdict_table(found: list[Experiment], verdict: str, heading: str) -> str:
    """Return the table of the experiments that end with a verdict, under its heading."""
    rows = [
        f"| [{each.said.ids}]({each.page}#{each.name}) | {each.said.asks} "
        f"| {' '.join(str(each.said.finds).split())} | [{each.said.script}]({each.said.script}) |"
        for each in found
        if each.said.verdict == verdict
    ]
    head = ["| id | question | what came out | script |", "|---|---|---|---|"]
    return "\n".join([f"## {heading}", "", *head, *rows, ""])


VERDICTS = {  # the heading in the index, and how a section begins
    "differs": ("Where we and the papers differ", "We differ from the paper."),
    "in part": ("What is confirmed in part", "Confirmed in part."),
    "agrees": ("What is confirmed", "Confirmed."),
    "no number": ("Where the paper has pictures and no number", "The paper has no number."),
    "own question": ("What the papers do not ask", "Not asked in the paper."),
}
MISSING = [  # experiments, what they lack, why, and what stands in
    ("000-1", "Escher's *Cycle*", "under copyright", "three other paintings"),
    (
        "001-5",
        "the cells of the paper",
        "its supplement says which, and is not at hand",
        "2,800 sorted cells",
    ),
    (
        "001-6",
        "the four sets of the paper",
        "its supplement, not at hand, names them",
        "six small sets",
    ),
    (
        "002-5",
        "11 million trips in New York",
        "too large to keep",
        "Santiago; 6,433 trips",
    ),
    (
        "003-1, forecasts",
        "series that scikit-learn downloads",
        "they need a download",
        "statsmodels",
    ),
    ("003-6, 003-7", "the video of a candle", "not found with usable rights", "a synthetic flame"),
    ("003-7, 003-13", "pictures of the mouse's cortex", "rights unclear", "curves and numbers"),
    (
        "003-13",
        "the last 20 of 60 s, in full resolution",
        "too large to keep",
        "means of 6 x 6 pixels",
    ),
    ("003-8", "Afremov's *Rain's Rustle*", "under copyright", "van Gogh's *Café Terrace*"),
    (
        "003-9",
        "the picture of grass and sand",
        "not found with usable rights",
        "parts of paintings",
    ),
    (
        "003-10",
        "the authors' tensor of 20 Newsgroups",
        "too large to keep",
        "1,000 words",
    ),
    ("003-10", "all headlines of the ABC", "too large to keep", "those of 48 days"),
    ("003-11", "the tensor of tweets", "the terms of Twitter forbid a copy", "sentences of a book"),
    (
        "004-3 to 004-5",
        "raw documents of 20 Newsgroups",
        "no copy at hand",
        "counts of 1,000 words in 11,256 documents",
    ),
    ("004-6, 004-7", "12 of the 38 subjects of Yale B", "not in the copy at hand", "26 subjects"),
]
INTRODUCTION = """# Experiments

Each script checks claims of one of the five papers, and leaves figures and a JSON file of numbers
in `results/`. Run a script in the environment that `make test` makes, for instance
`.venv/bin/python experiments/exp_000_2_convergence.py`. Afterwards,
`.venv/bin/python experiments/write_pages.py` writes this page and the pages that it links to. Every
measured number on them is read from a JSON file, which names the commit and the date of its run.
Each section begins with what came out, and with a table of what is in print and what we found.

Comparisons name what a simple rival reaches and what was chosen on which data. Where a section says
nothing of that, its script chooses nothing by what it reports; its settings are those of the paper
or written in the script, and it is not known whether anybody looked at these data when they, or the
defaults of the library, were set.

"""

if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
