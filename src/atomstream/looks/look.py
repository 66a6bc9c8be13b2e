"""The one way to look at a model: its atoms drawn, its table, its words, its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import plural
from atomstream.base.declared import find, loaded
from atomstream.exceptions import InputError, MissingLibraryError
from atomstream.files.registry import is_model
from atomstream.looks import Encoded, Record, Table, report
from atomstream.looks.canvas import Figure
from atomstream.looks.cards import Picture, Term, pictures
from atomstream.looks.samples import UsageOverTime, Users, usage_of, users_of

MAX_THUMBNAILS = 12
BOX = "display:inline-block;margin:4px;text-align:center;font:11px sans-serif;vertical-align:top"
SHOWN = "width:64px;height:48px;object-fit:contain;image-rendering:pixelated;display:block"

# The looks of the models of the matrix itself; fields declare those of theirs.
ROWS_LOOK = "atomstream.looks.rows:RowsLook"
LOOKS = dict.fromkeys(("BatchNMF", "OnlineDictionaryLearning", "OnlineNMF"), ROWS_LOOK)
_REGISTERED: dict[type, type[Look]] = {}


@dataclass(frozen=True)
class FileCoder:
    """What a kind of model makes of files: their codes, and their reconstructions.

    As it is, it refuses all of it; the look of a kind of model has one that can do more.

    Parameters
    ----------
    learned_from : str, default="samples"
        Such as "a network".
    instead : str, default=" and codes no rows"
        What `encode` says, and what to do.
    has_ids : bool, default=False
        Whether `encode` takes columns that name rows.
    skips : bool, default=False
        Whether it can go on after a row that cannot be coded.
    weighs : bool, default=False
        Whether what is coded has uncertainties.
    reads_tables : bool, default=False
        Whether it reads tables, by the options of the record.

    Examples
    --------
    >>> from atomstream.looks import Encoded, FileCoder
    >>> class SpectraCoder(FileCoder):
    ...     def encode(self, record, inputs, ids):
    ...         blocks = (((), record.model.transform(np.loadtxt(name))) for name in inputs)
    ...         return Encoded(len(record.model.components_), blocks)
    >>> SpectraCoder("spectra").learned_from
    'spectra'
    """

    learned_from: str = "samples"
    instead: str = " and codes no rows"
    has_ids: bool = False
    skips: bool = False
    weighs: bool = False
    reads_tables: bool = False

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of all inputs, block by block, with the columns that name rows."""
        raise InputError(f"{record.path} has learned from {self.learned_from}{self.instead}.")

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write the reconstruction of an input, and return where and how close it is."""
        of = self.learned_from
        raise InputError(f"{record.path} has learned from {of} and rebuilds no files.")

    def patch_shape(self, record: Record) -> tuple[int, ...]:
        """Return the shape of the patches of images that the atoms are."""
        raise InputError(
            f"{record.path} has learned from {self.learned_from}; needed is a dictionary of image "
            "patches."
        )


class AtomsLook:
    """How atoms are looked at one by one: in a table, as small pictures, with their samples."""

    of: ClassVar[str] = "sample"  # what the objective is a mean over
    samples: ClassVar[str] = "{unit}"  # among which those that use an atom most were found

    def unit(self, record: Record) -> str:
        """Return what the objective is a mean over."""
        return self.of

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the most important atoms, at most so many."""
        shares = record.model.importance_
        # Stable, so that atoms that matter alike stand in the same order in every table and
        # picture.
        order = np.argsort(-shares, kind="stable")[:most].tolist()
        rows = [(atom, float(shares[atom])) for atom in order]
        return Table("atom", {"code_share": "share of code"}, rows)

    def atoms(self, record: Record) -> NDArray:
        """Return all atoms in the shape of the data, (n_atoms, ...)."""
        return np.asarray(getattr(record.model, "components_", np.zeros(0)))

    def small(self, values: NDArray) -> list[Picture]:
        """Return small pictures of atoms or samples; empty where there is nothing to draw."""
        # Curves, grey images and colour images; atoms of other shapes, such as those of tensors,
        # are drawn by their own looks.
        drawable = values.ndim in (2, 3) or (values.ndim == 4 and values.shape[3] == 3)
        return pictures(values) if drawable and values.size else []

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return small pictures of atoms or samples in the shape of the samples of a run."""
        return self.small(values if record.shape is None else values.reshape(-1, *record.shape))

    def terms(self, record: Record) -> list[list[Term]]:
        """Return the words of all topics; empty where atoms are not made of words."""
        return []

    def users(self, record: Record) -> Users | None:
        """Return samples and their codes, by default those that the run has kept."""
        shown = self.drawn(record, np.asarray(record.notes.get("sample_values", np.zeros(0))))
        return users_of(record.notes, shown, self.samples.format(unit=plural(self.unit(record))))

    def usage(self, record: Record) -> UsageOverTime | None:
        """Return the shares of the atoms over time; None where not known."""
        return usage_of(record.history, plural(self.unit(record)))


class Look(AtomsLook):
    """How models of one kind are looked at: every verb that does not learn goes through one.

    As it is, it suits any fitted estimator with ``components_`` and ``importance_``. The look of a
    kind of model replaces what it can say better. What it makes of files is in ``files``.
    """

    files: ClassVar[FileCoder] = FileCoder()
    title: ClassVar[str] = "Atoms"
    quality_on: ClassVar[str] = ""  # what the figures of `quality` are measured on
    note: ClassVar[str] = ""  # on the table of atoms

    # -- in a notebook

    def plot(self, model: Any, **options: Any) -> Figure:
        """Draw the atoms of a model: rows as bars where features are few or have names."""
        from atomstream.looks import drawings

        names = getattr(model, "feature_names_in_", None)
        # Bars of features without names say nothing more than a curve, which has room for many.
        if names is None and model.components_.shape[1] > drawings.MAX_BARS:
            return drawings.curves(model, **options)
        return drawings.bars(model, None if names is None else [*map(str, names)], **options)

    def thumbnails(self, model: Any) -> str:
        """Return the most important atoms as HTML, nothing without the library for pictures."""
        order = np.argsort(-model.importance_, kind="stable")[:MAX_THUMBNAILS]
        try:
            shown = self.small(np.asarray(model.components_)[order])
        except MissingLibraryError:
            # A notebook shows a model in passing: a library that is lacking is no error there.
            return ""
        return "".join(
            f'<div style="{BOX}">{_html(picture)}{atom}: '
            f"{100 * model.importance_[atom]:.1f} %</div>"
            for atom, picture in zip(order, shown, strict=bool(shown))
        )

    # -- in the report

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        return {"model": type(record.model).__name__}

    def learned(self, record: Record) -> list[report.Section]:
        """Return the sections on what was learned: the atoms, and how much each matters."""
        figure = self.plot(record.model, **self.options(record))
        return [
            report.Section("atoms", "Atoms", self.caption(record), figure),
            report.importance(record, self.table(record), self.note),
        ]

    def options(self, record: Record) -> dict[str, Any]:
        """Return the options of the picture of the atoms."""
        return {}

    def caption(self, record: Record) -> str:
        """Return what the picture of the atoms shows."""
        return "The atoms, most important first."

    def judged(self, record: Record) -> list[report.Section]:
        """Return the sections on how well it was learned, besides the objective."""
        return []

    def quality(self, record: Record) -> dict[str, float]:
        """Return figures that say how good the model is; empty where nothing is known."""
        return dict(record.notes.get("figures", {}))

    def remark(self, figures: dict[str, float]) -> str | None:
        """Return what these figures of `quality` mean, where nobody should miss it."""
        return None

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the inputs of a run."""
        return {}

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        facts = self.known(record) | report.progress(record)
        if hasattr(record.learner, "batch_objective_"):
            mean = f"{record.objective:.6g} per {self.unit(record)}"
            facts["objective"] = f"{mean}, recent batches before their update"
        return facts


def register_look(model: type, look: type[Look]) -> None:
    """Let models of a class, and of those derived from it, be looked at in a way of your own.

    Parameters
    ----------
    model : type
        Class of fitted estimators.
    look : type
        Class derived from `Look`; it is made without arguments.

    Examples
    --------
    >>> from atomstream import OnlineNMF
    >>> from atomstream.looks import look_of, register_look
    >>> from atomstream.looks.rows import RowsLook
    >>> class Spectra(OnlineNMF):
    ...     pass
    >>> class SpectraLook(RowsLook):
    ...     title = "Spectra"
    >>> register_look(Spectra, SpectraLook)
    >>> look_of(Spectra(3)).title
    'Spectra'
    """
    if not (isinstance(look, type) and issubclass(look, Look)):
        raise TypeError(f"look must be a class derived from Look, got {look!r:.80}.")
    _REGISTERED[model] = look


def look_of(model: Any, task: Any = None) -> Look:
    """Return how a model is looked at: as its class was registered, or one that it is derived from.

    Parameters
    ----------
    model : estimator
    task : type of Task, optional
        The kind of run that it is from, whose own look goes before that of the model.

    Raises
    ------
    InputError
        For an object of a class without a look.
    """
    # The nearest class first: a class derived from ours is looked at in our way until it registers
    # one of its own.
    if task is not None and task.look:
        own: type[Look] = loaded(task.look)
        return own()
    for kind in type(model).__mro__:
        if kind in _REGISTERED:
            return _REGISTERED[kind]()
        # By name, so that no look is loaded before a model of its kind is looked at.
        place = LOOKS.get(kind.__name__) or find("looks", kind.__name__)
        if place is not None and is_model(kind):
            found: type[Look] = loaded(place)
            return found()
    raise InputError(
        f"No look is known of a {type(model).__name__}; give a model of atomstream, or register "
        "a look with atomstream.looks.register_look."
    )


def _html(picture: Picture) -> str:
    if picture.png:
        return f'<img style="{SHOWN}" alt="" src="data:image/png;base64,{picture.png}">'
    lines = "".join(
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/>'
        for points in picture.curves
    )
    return f'<svg style="{SHOWN}" viewBox="0 0 120 60" preserveAspectRatio="none">{lines}</svg>'
