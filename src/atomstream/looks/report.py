"""Reports: one self-contained HTML page that asks nothing of a network, with every name escaped.

The page is made of the files in ``page``. Its one script is named by its digest in the page's
policy, so that a browser runs no other, whatever the data hold.
"""

import base64
import hashlib
import io
import platform
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import atomstream
from atomstream.base import counted, library, plural, told, track
from atomstream.io.files import whole_file
from atomstream.looks import Record, Table, drawings
from atomstream.looks.cards import Cards, course_points
from atomstream.watch import alarms_of, lives_of

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
MAX_EVENTS = 30  # in the life of atoms that a report lists
NO_EVENTS = "No atom appeared, disappeared, split or merged. "
# What the learning curve tells of counts that rise along the stream.
MARKS = {"n_alarms": "Alarms were given", "n_changeovers": "The schedule left the past behind"}
GOALS = {"epochs": "passes", None: "tables"}  # what is counted, where the goal does not say it

__all__ = ["Section", "write_figures", "write_report"]


@dataclass(frozen=True)
class Section:
    """A section of a report: a figure, facts, a table, or several of these.

    Attributes
    ----------
    name : str
        File name of the figure, without ending.
    title, caption : str
    figure : matplotlib.figure.Figure, optional
    chapter : str
        Heading of a new chapter that starts with this section.
    facts : mapping of str to values
    columns : sequence of str
        Names of the columns of the table.
    rows : sequence of sequences
        Rows of the table.
    of_atoms : bool
        Whether the first column of the table holds numbers of atoms.
    """

    name: str
    title: str
    caption: str = ""
    figure: Any = None
    chapter: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    of_atoms: bool = False


def write_report(
    folder: str | Path,
    title: str,
    facts: Mapping[str, Any],
    sections: list[Section],
    *,
    cards: Cards | None = None,
    dpi: int = 110,
) -> Path:
    """Write ``report.html`` with its figures, and each figure as PNG and SVG under ``figures/``.

    Parameters
    ----------
    folder : path
        Created if needed.
    title : str
    facts : mapping of str to values
        The table at the top.
    sections : list of Section
    cards : Cards, optional
        The atoms one by one, after the first chapter.
    dpi : int, default=110
        Dots per inch of the figures.

    Returns
    -------
    pathlib.Path
        Path of the page.
    """
    folder = Path(folder)
    drawn = _drawn(folder, sections, dpi)
    pictures = {name: base64.b64encode(png).decode("ascii") for name, png in drawn}
    path = folder / "report.html"
    # The old report stays until the new one is complete: somebody may be reading it.
    with whole_file(path) as file:
        text = _page(title, facts, sections, pictures, cards)
        file.write(text.encode("utf-8", "replace"))
    return path


def _page(
    title: str,
    facts: Mapping[str, Any],
    sections: list[Section],
    drawn: Mapping[str, str],
    cards: Cards | None,
) -> str:
    """Return the text of the page."""
    script, style, template = (
        (files("atomstream.looks") / "page" / name).read_text(encoding="utf-8")
        for name in ("report.js", "report.css", "report.html.jinja")
    )
    # Escaping is on for all of it: names of features come from files of other people.
    page = library("jinja2", "Reports").Environment(autoescape=True).from_string(template)
    # The page allows the one script with this digest: markup in a name could not run another.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return page.render(
        **{"title": title, "facts_": facts, "chapters": _chapters(sections), "drawn": drawn},
        **{"script": script, "style": style, "digest": digest, "course": course_points},
        anchor=lambda title: re.sub(r"\W+", "-", title.lower()),
        percent=lambda share: f"{100 * share:.3g} %",
        **_browsing(cards),
    )


def _browsing(cards: Cards | None) -> dict[str, Any]:
    """Return what the page needs to know of the cards."""
    if cards is None or not cards.cards:
        return {"cards": None, "known": set()}
    # A dict as an ordered set: figures in the order in which cards have them.
    figures = {name: None for card in cards.cards for name in card.figures}
    timed = ["share at the time"] if cards.times else []
    placed = ["similarity"] if cards.cards[0].place is not None else []
    state = {
        "noun": cards.noun,
        "origin": {name: value for name, value in cards.saved.items() if name != "edits"},
        "saved": dict(cards.saved),
        "times": list(cards.times),
        "frames": list(cards.frames),
    }
    return {
        "cards": cards,
        "known": {card.number for card in cards.cards},
        "sorts": [*figures, *timed, *placed, "number"],
        "has_terms": any(card.terms for card in cards.cards),
        "state": state,
    }


def _chapters(sections: list[Section]) -> list[tuple[str, list[Section]]]:
    """Return sections under the headings of their chapters."""
    chapters: list[tuple[str, list[Section]]] = []
    for section in sections:
        if section.chapter or not chapters:
            chapters.append((section.chapter, []))
        chapters[-1][1].append(section)
    return chapters


def write_figures(folder: str | Path, sections: list[Section], *, dpi: int = 110) -> list[Path]:
    """Write the figures of sections as PNG and SVG under ``figures/`` and return their paths.

    Parameters
    ----------
    folder : path
    sections : list of Section
    dpi : int, default=110
    """
    drawn, figures = _drawn(Path(folder), sections, dpi), Path(folder) / "figures"
    return [figures / f"{name}.{kind}" for name, _ in drawn for kind in ("png", "svg")]


def _drawn(folder: Path, sections: list[Section], dpi: int) -> Iterator[tuple[str, bytes]]:
    """Write each figure in both formats and yield its name and its PNG."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    drawn = [section for section in sections if section.figure is not None]
    for section in track(drawn, len(drawn), "drawing"):
        written = {}
        # A date would make every drawing of the same data another file.
        for kind, about in (("png", {}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            with warnings.catch_warnings():
                # Names in a script that the font lacks are drawn as boxes; that is no news to the
                # reader.
                warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
                section.figure.savefig(buffer, format=kind, dpi=dpi, metadata=about)
            section.figure.set_layout_engine("none")  # laid out once: it is half of drawing
            written[kind] = buffer.getvalue()
            with whole_file(folder / "figures" / f"{section.name}.{kind}") as file:
                file.write(written[kind])
        yield section.name, written["png"]


def atoms_table(
    record: Record, most: int, last: str = "", text: Callable[[int], str] | None = None
) -> Table:
    """Return shares of code and energy of the most important atoms, perhaps with a text on each."""
    model, learner = record.model, record.learner
    energy = learner.memory_.atom_energy(learner.state_.dictionary)
    # Of a model that explains nothing, all shares are zero.
    energy = energy / max(energy.sum(), np.finfo(float).tiny)
    rows: list[tuple[Any, ...]] = []
    for atom in np.argsort(-model.importance_, kind="stable")[:most].tolist():
        shares = float(model.importance_[atom]), float(energy[atom])
        rows.append((atom, *shares) if text is None else (atom, *shares, text(atom)))
    heads = {"code_share": "share of code", "energy_share": "share of energy"}
    return Table("atom", heads if text is None else heads | {"features": last}, rows)


def importance(record: Record, table: Table, note: str = "") -> Section:
    """Return a table of atoms as a section."""
    shares = record.model.importance_
    unused = int((shares == 0).sum())
    notes = [note] * bool(note) + [f"Atoms that no code uses: {unused}."] * bool(unused)
    title = f"The {len(table.rows)} most important of {counted(len(shares), 'atom')}"
    return table_section("importance", title, table, " ".join(notes))


def table_section(name: str, title: str, table: Table, caption: str = "") -> Section:
    """Return a table as a section, with shares in percent."""
    first = table.rows[0] if table.rows else (None,) * (1 + len(table.columns))
    # What a column holds is known from its first row: shares are floats, counts are int.
    shares = [isinstance(cell, float) for cell in first[1:]]
    heads = zip(table.columns.values(), shares, strict=True)
    columns = [table.name, *(f"{head}, %" if share else head for head, share in heads)]
    rows = [tuple(100 * it if isinstance(it, float) else it for it in row) for row in table.rows]
    return Section(name, title, caption, columns=columns, rows=rows, of_atoms=True)


def rounded(figures: Mapping[str, float]) -> dict[str, str]:
    """Return figures as text."""
    return {name: f"{value:.4g}" for name, value in figures.items()}


def inputs(record: Record) -> str:
    """Return the names of the first inputs."""
    names = list(record.settings.inputs)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def progress(record: Record) -> dict[str, Any]:
    """Return how far a run is and how long it took; nothing for a model file."""
    if record.settings is None or record.task is None:
        return {}
    done, goal = record.notes.get("position", (0,))[0], record.task.goal
    state = "complete"
    if record.complete is None:
        state = "open: continues with what comes on standard input"
    elif not record.complete:
        # A goal of None is not known before the first pass, and is not said.
        wanted = getattr(record.settings, goal) if goal else 1
        state = f"{done}{f' of {wanted}' if wanted else ''} {GOALS.get(goal, goal)} complete"
    return {"state": state, "time": f"{record.notes['seconds']:.1f} s"}


def learning(record: Record, unit: str) -> list[Section]:
    """Return the section on how the objective went, where a history was kept."""
    if not record.history.n_samples:
        return []
    said = f"Mean objective of the {plural(unit)} of each batch before the model learned from it."
    if len(record.history.n_samples) > 1:
        said += " The first batch, which the start was made from, is left out."
    for count, words in MARKS.items():
        if places := alarms_of(record.history, count):
            listed = ", ".join(f"{place:,}" for place in places[-MAX_EVENTS:])
            times = counted(int(record.history.points[count][-1]), "time")
            said += f" {words} {times}: by {listed} {plural(unit)}."
    figure = drawings.objective(record.history, unit=unit)
    return [Section("objective", "Learning", said, figure)]


def became(record: Record, unit: str) -> list[Section]:
    """Return the section on births and deaths of atoms, where snapshots of them were kept."""
    lives = lives_of(record.history, record.notes)
    if not lives.moments:
        return []
    heads = {"atom": "atom", "kind": "event", "n_samples": f"{unit} by then", "when": "date"}
    heads["other"] = "other atom"
    formed = lives.formed
    events = [event for event in lives.events if event.n_samples > formed]
    newest = events[: -MAX_EVENTS - 1 : -1]
    shown = [event._asdict() | {"n_samples": f"{event.n_samples:,}"} for event in newest]
    known = [name for name in heads if any(found[name] is not None for found in shown)]
    rows = [
        (found["atom"], *("" if found[name] is None else str(found[name]) for name in known[1:]))
        for found in shown
    ]
    moved = max(lives.drift.values())
    caption = (
        f"Atoms are compared at {counted(len(record.history.snapshots), 'moment')} of the stream. "
        + (f"{counted(len(events), 'event')} found. " if events else NO_EVENTS)
        + f"The atom that changed most has changed by {moved:.3g} in total (one minus the cosine "
        "between neighbouring moments, added up)."
    )
    if formed:
        caption += (
            f" The first {formed:,} {unit}, after which the atoms had formed, are left out of "
            "these events."
        )
    if len(rows) < len(events):
        caption += f" The last {len(rows)} are listed."
    columns = [heads[name] for name in known]
    return [Section("became", "What became of the atoms", caption, columns=columns, rows=rows)]


def how(record: Record) -> dict[str, Any]:
    """Return settings, versions, time and warnings."""
    learner = record.learner
    from importlib.metadata import version  # here, for it loads what reads mail

    versions = {"atomstream": atomstream.__version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in PACKAGES}
    facts: dict[str, Any] = {
        "settings": repr(record.model).replace("\n", " "),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
    }
    if record.settings is not None:
        seconds = record.notes["seconds"]
        # Tasks without samples, such as a walk, count their steps.
        n_seen = getattr(learner, "n_samples_seen_", None) or learner.n_steps_
        rate = n_seen / max(seconds, 1e-9)
        facts["time"] = f"{seconds:.1f} s, reading and compiling included; {rate:,.0f} a second"
        events = [event.get("event") for event in record.run.log.events()]
        facts["sessions"] = f"{1 + events.count('resume')}"
    if hasattr(getattr(learner, "memory_", None), "outlier_share"):
        facts["entries counted as outliers"] = f"{learner.memory_.outlier_share:.1%}"
    if hasattr(learner, "n_reseeded_"):
        facts["re-seeded atoms"] = learner.n_reseeded_
    if chosen := record.chosen:
        facts["chosen"] = told(chosen)
    facts["warnings"] = "; ".join(record.notes.get("warnings", [])) or "none"
    return facts
