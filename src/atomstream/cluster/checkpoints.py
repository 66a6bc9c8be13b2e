"""Checkpoints of rounds: one model file, which says where the rounds stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from atomstream.cluster.rounds import Position
from atomstream.exceptions import InputError
from atomstream.files.codec import read_model, write_model


class Checkpoint:
    """A model file that is written after every round; the same call goes on from it.

    Parameters
    ----------
    path : path
        Its folder must exist. `atomstream.load` reads the model.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from atomstream import Checkpoint, OnlineNMF
    >>> from atomstream.cluster import shards
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/rows.npy", np.random.default_rng(0).random((600, 4)))
    >>> rows = shards(folder + "/rows.npy")
    >>> kept = Checkpoint(folder + "/model.atoms")
    >>> model = OnlineNMF(2, random_state=0).fit_stream(rows, checkpoint=kept)
    >>> again = OnlineNMF(2, random_state=0).fit_stream(rows, checkpoint=kept)  # nothing is left
    >>> again.rounds_report_.n_rounds, bool((again.components_ == model.components_).all())
    (0, True)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def load(self, model: Any, layout: str) -> tuple[Position, list[tuple[str, str]]] | None:
        """Bring the model to where it stood; None where there is no file.

        Parameters
        ----------
        model : estimator
            The one that is to learn.
        layout : str
            Digest of shards, slots and rounds.

        Returns
        -------
        position : Position
            After the last round that was kept.
        skipped : list of (name, reason)
            Shards that were left out before it.

        Raises
        ------
        InputError
            Where the file is of other shards, slots, rounds, or of another kind of model.
        """
        if not self.path.exists():
            return None
        found, notes = read_model(self.path)
        if notes.get("layout") != layout or type(found) is not type(model):
            raise InputError(
                f"{self.path} was written by a run over other shards, slots or rounds, or by "
                "another model; give the same ones, or another file."
            )
        model.restore_learned(found.learned_attributes())
        pairs = zip(notes["skipped"], notes["reasons"], strict=True)
        return Position(*notes["position"]), [(str(name), str(why)) for name, why in pairs]

    def save(self, model: Any, layout: str, at: Position, skipped: list[tuple[str, str]]) -> None:
        """Write the model and where it stands, whole or not at all; not before it has atoms.

        Parameters
        ----------
        model : estimator
            After a round.
        layout : str
            As in `load`.
        at : Position
            Where the rounds stand.
        skipped : list of (name, reason)
            Shards that were left out.
        """
        if not model.__sklearn_is_fitted__():
            return
        names, reasons = ([pair[i] for pair in skipped] for i in (0, 1))
        notes = {
            "layout": layout,
            "position": list(at),
            "skipped": np.array(names, object),
            "reasons": np.array(reasons, object),
        }
        write_model(self.path, model, notes)
