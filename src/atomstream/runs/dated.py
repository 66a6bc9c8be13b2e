"""The lives of the atoms of a run, with dates where the samples of its stream have some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atomstream.history import Trace
from atomstream.watch.lives import AtomsOverTime, atoms_over_time

__all__ = ["lives_of"]


def lives_of(history: Trace, notes: Mapping[str, Any]) -> AtomsOverTime:
    """Return what became of the atoms of a run.

    Parameters
    ----------
    history : Trace
    notes : mapping
        What the run keeps; ``stream_dates`` are dates of samples of a pass, evenly spaced and in
        their order, ``n_documents`` is how many samples a pass has.
    """
    found, dates = atoms_over_time(history), notes.get("stream_dates")
    if dates is None:
        return found

    def dated(one: Any) -> Any:
        """Return a moment or an event with the date of its sample."""
        place = (one.n_samples - 1) % notes["n_documents"]
        return one._replace(when=str(dates[place * len(dates) // notes["n_documents"]]))

    return AtomsOverTime([*map(dated, found.moments)], [*map(dated, found.events)])
