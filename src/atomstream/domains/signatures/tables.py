"""Tables by mutation channel: counts of samples, and profiles of signatures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import check_keywords, checked_array, column_names, lettered, printable
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

HEAD = "MutationType"  # of the column of channels, as tools of the field write it
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
        AnnData with samples in rows and channels in columns.
    **how
        How a file is read, as in `atomstream.io.TableOptions`.

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
    if isinstance(source, str | Path):
        return _from_file(Path(source), how)
    check_used(TableOptions(**how), frozenset(), "what was given")
    if hasattr(source, "obs_names"):
        names, channels = list(map(str, source.obs_names)), list(map(str, source.var_names))
        return ChannelTable(source.X[:], names, channels, "The AnnData")
    names = column_names(source)
    columns = list(map(str, names))
    if columns and columns[0] in (HEAD, "Type"):
        channels = [str(channel) for channel in source[names[0]]]
        columns, source = columns[1:], source[names[1:]]
    elif hasattr(source, "index"):
        channels = [str(channel) for channel in source.index]
    else:
        raise InputError(f"The frame needs a first column {HEAD!r} that names the channels.")
    return ChannelTable(_numbers(source, "The frame").T, columns, channels, "The frame")


def _from_file(path: Path, how: Mapping[str, Any]) -> ChannelTable:
    """Return the table of a file whose first column names the channels."""
    options = InputOptions(**how, naming=Naming(("1",), kept=True))
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
    channels = [str(name) for block in blocks for name in block.labels[0]]
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
