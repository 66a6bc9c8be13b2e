"""Tables by mutation channel: counts of samples, and profiles of signatures."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import (
    check_keywords,
    checked_array,
    column_names,
    counted,
    lettered,
    printable,
)
from atomstream.exceptions import InputError
from atomstream.io import (
    DelimitedTable,
    InputOptions,
    Naming,
    TableOptions,
    check_used,
    existing,
    need,
    reading,
    whole_file,
)
from atomstream.io.input_options import RAISE, Find
from atomstream.io.inputs import OF_ROWS

log = logging.getLogger(__name__)

HEAD = "MutationType"  # of the column of channels, as tools of the field write it
# A channel of substitutions; in older tables the substitution and its context are columns.
CHANNEL = re.compile(r"[ACGT]\[[ACGT]>[ACGT]\][ACGT]")
SUBSTITUTION, CONTEXT = re.compile("[ACGT]>[ACGT]"), re.compile("[ACGT]{3}")
KINDS = {96: "SBS", 78: "DBS", 83: "ID"}  # kinds of mutations, by their number of channels
FRACTIONS = 1.5  # sum of a column below which it holds shares of mutations, and no counts


@dataclass(frozen=True)
class ChannelTable:
    """Numbers by mutation channel, of samples or of signatures.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_channels)
        Of each sample its counts, of each signature its profile. In files, as in the tables of the
        field, rows are channels.
    names : list of str
        Of the samples or signatures.
    channels : list of str
        Such as "A[C>A]A".
    source : str
        Where it is from, for messages.
    """

    values: NDArray
    names: list[str]
    channels: list[str]
    source: str = "The table"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _numbers(self.values, self.source))
        if self.values.shape != (len(self.names), len(self.channels)):
            raise InputError(
                f"{self.source} has values of shape {self.values.shape} for {len(self.names)} "
                f"names and {len(self.channels)} channels."
            )
        for kind, names in (("channel", self.channels), ("sample or signature", self.names)):
            if repeated := [name for name, count in Counter(names).items() if count > 1]:
                raise InputError(f"{self.source} has the {kind} {min(repeated)!r} twice.")

    def like(self, other: ChannelTable) -> ChannelTable:
        """Return the table with the channels of another one, in their order.

        Raises
        ------
        InputError
            Where one of the two has a channel that the other has not; the message names it.
        """
        for here, there in ((other, self), (self, other)):
            known = set(there.channels)
            if unknown := [name for name in here.channels if name not in known]:
                more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
                other_source = re.sub("^The ", "the ", there.source)
                raise InputError(
                    f"{here.source} has the channel {unknown[0]!r}{more}, which {other_source} "
                    "does not have; both must count mutations by the same channels."
                )
        places = {name: place for place, name in enumerate(self.channels)}
        order = [places[name] for name in other.channels]
        return ChannelTable(self.values[:, order], self.names, other.channels, self.source)

    def without_empty(self) -> ChannelTable:
        """Return the table without the samples that have no mutations, of which a record tells."""
        kept = np.flatnonzero(self.values.any(axis=1))
        if len(kept) == len(self.names):
            return self
        n_empty = len(self.names) - len(kept)
        log.info("%s: %s without mutations left out.", self.source, counted(n_empty, "sample"))
        return replace(self, values=self.values[kept], names=[self.names[i] for i in kept])

    def write(self, path: str | Path) -> None:
        """Write a tab-separated table with channels in rows, ``MutationType`` first."""
        write_tabs(path, [HEAD, *self.names], zip(self.channels, *self.values, strict=True))


def read(source: Any, **how: Any) -> ChannelTable:
    """Return a table by channel.

    Parameters
    ----------
    source : path, frame or AnnData
        A tab-separated file (also ``.gz``) whose first column names the channels and whose others
        are samples or signatures; a frame of the same form, or with the channels as its index; or
        AnnData with samples in rows and channels in columns. Instead of channels there may be
        columns of the substitution and of its context ("C>A" and "ACA"), as in older tables.
    **how
        How a file is read, as in `atomstream.io.TableOptions`; ``on_bad_line="skip"`` leaves
        samples without mutations out, and counts them in a record of the log.

    Raises
    ------
    InputError
        For what cannot be read, and for names that come twice.

    Examples
    --------
    >>> import pandas
    >>> from atomstream import signatures
    >>> frame = pandas.DataFrame({"MutationType": ["A[C>A]A", "A[C>A]C"], "sample": [3, 5]})
    >>> signatures.read(frame).values
    array([[3., 5.]])
    """
    check_keywords("signatures.read", how, TableOptions)
    options = TableOptions(**how)
    if isinstance(source, str | Path):
        table = _from_file(Path(source), how)
    else:
        check_used(options, OF_ROWS, "what was given")
        table = _from_object(source)
    return table.without_empty() if options.skips else table


def _from_object(source: Any) -> ChannelTable:
    """Return the table of AnnData or a frame."""
    if hasattr(source, "obs_names"):
        names, channels = list(map(str, source.obs_names)), list(map(str, source.var_names))
        return ChannelTable(source.X[:], names, channels, "The AnnData")
    names = column_names(source)
    # Columns of pyarrow are arrays of its own scalars.
    listed = (np.asarray(source[name], object).tolist() for name in names)
    texts = [*takewhile(lambda column: column and isinstance(column[0], str), listed)]
    if texts:
        names = names[len(texts) :]
        source = source[names] if hasattr(source, "columns") else source.select(names)
    elif hasattr(source, "index"):
        entries = source.index.tolist()
        texts = [*zip(*entries, strict=True)] if source.index.nlevels > 1 else [entries]
    else:
        raise InputError(f"The frame needs a first column {HEAD!r} that names the channels.")
    channels, names = _channels(texts, "The frame"), [*map(str, names)]
    return ChannelTable(_numbers(source, "The frame").T, names, channels, "The frame")


class _ChannelColumns(Naming):
    """The first columns, as far as they hold texts."""

    judges: ClassVar = True

    def places(
        self, names: list[str], find: Find, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return their places, at least the first."""
        fields = rows[0] if rows and len(rows[0]) == len(names) else []
        is_text = (
            CHANNEL.match(it) or SUBSTITUTION.match(it) or CONTEXT.match(it) for it in fields
        )
        return [*range(max(1, sum(1 for _ in takewhile(bool, is_text))))]


def _channels(columns: Sequence[Sequence[Any]], source: str) -> list[str]:
    """Return the channels that columns of texts name together."""
    texts = [[*map(str, column)] for column in columns]
    kinds = [
        next(
            (kind for kind in (CHANNEL, SUBSTITUTION, CONTEXT) if all(map(kind.fullmatch, it))),
            None,
        )
        for it in texts
    ]
    if len(texts) == 1 or CHANNEL in kinds:
        return texts[kinds.index(CHANNEL) if CHANNEL in kinds else 0]
    if {*kinds} != {SUBSTITUTION, CONTEXT}:
        raise InputError(
            f"{source} begins with {len(texts)} columns of texts, needed is one with channels such "
            "as A[C>A]A, or two with the substitution (C>A) and its context (ACA)."
        )
    pairs = zip(texts[kinds.index(SUBSTITUTION)], texts[kinds.index(CONTEXT)], strict=True)
    return [f"{context[0]}[{change}]{context[2]}" for change, context in pairs]


def _from_file(path: Path, how: Mapping[str, Any]) -> ChannelTable:
    """Return the table of a file whose first column names the channels."""
    options = InputOptions(**{**how, "on_bad_line": RAISE}, naming=_ChannelColumns(kept=True))
    with reading(str(existing(path))):
        table = DelimitedTable(path, options)
    blocks = []
    for block in table.blocks(0, 0):
        blocks.append(block)
        need(100.0 * sum(each.X.size for each in blocks), str(path))
    if not table.row_names or table.names is None:
        raise InputError(f"{path} has no column that names the channels, or no line of names.")
    if HEAD in table.names:
        raise InputError(
            f"{path} has {HEAD!r} among the names of samples; it must stand above the channels, "
            "and every line must have as many fields as the first one."
        )
    named = [np.concatenate(part) for part in zip(*(each.labels for each in blocks), strict=True)]
    channels = _channels([each.tolist() for each in named], str(path))
    values = np.concatenate([block.X for block in blocks]).T
    return ChannelTable(values, table.names, channels, str(path))


def _numbers(values: Any, source: str) -> NDArray:
    """Return finite numbers that are not negative."""
    try:
        found = checked_array(values, source, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    if found.ndim != 2 or not np.isfinite(found).all() or (found < 0).any():
        raise InputError(f"{source} must hold finite numbers of at least 0, by channel.")
    return found


def check_counts(mutations: ChannelTable) -> None:
    """Refuse what is no table of counts.

    Raises
    ------
    InputError
        For fractions in place of counts, and samples without mutations; the message names one.
    """
    totals, source = mutations.values.sum(axis=1), mutations.source
    if empty := [name for name, total in zip(mutations.names, totals, strict=True) if total == 0]:
        more = f" and {len(empty) - 1} more have" if len(empty) > 1 else " has"
        raise InputError(f"The sample {empty[0]!r} of {source}{more} no mutations; leave it out.")
    fractions = np.flatnonzero((totals < FRACTIONS) & (mutations.values % 1 != 0).any(axis=1))
    if len(fractions):
        name = mutations.names[fractions[0]]
        raise InputError(
            f"{source} holds fractions (the sample {name!r} sums to {totals[fractions[0]]:.3g}); "
            "needed are counts of mutations, before they were divided by their sum."
        )


def de_novo(model: Any, channels: Sequence[str], rank: int | None = None) -> ChannelTable:
    """Return the signatures that a consensus has found, named as tools of the field name them.

    Parameters
    ----------
    model : fitted ConsensusNMF
    channels : sequence of str
    rank : int, optional
        By default the one chosen.

    Returns
    -------
    ChannelTable
        Profiles of sum one, called SBS96A, SBS96B ..., most important first.
    """
    atoms = np.asarray(model.consensus(rank).atoms, np.float64)
    kind = f"{KINDS.get(len(channels), 'CH')}{len(channels)}"
    names = [kind + lettered(number) for number in range(len(atoms))]
    profiles = atoms / atoms.sum(axis=1, keepdims=True)
    return ChannelTable(profiles, names, list(channels), "The model")


def write_tabs(path: str | Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a tab-separated table."""
    with whole_file(path) as file:
        for row in (head, *rows):
            fields = (f"{float(v):.10g}" if isinstance(v, float | np.floating) else v for v in row)
            file.write(("\t".join(printable(str(field)) for field in fields) + "\n").encode())
