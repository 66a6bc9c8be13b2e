"""Runs that compare numbers of atoms by many replicates of each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import as_known
from atomstream.fields.consensus.model import ConsensusNMF
from atomstream.io import Block, Holdout, write_table
from atomstream.looks.samples import Sample, Samples
from atomstream.runs import Task, option, sets
from atomstream.runs.tasks._rows_settings import RowsSettings
from atomstream.runs.tasks.rows import RowsTask
from atomstream.watch import History

MOST_RANKS = 1000
LOOKED_AT = 20_000  # rows, at least, among which those that use an atom most are found


@dataclass(frozen=True)
class ConsensusSettings(RowsSettings):
    """Settings of a run that compares numbers of atoms."""

    TASK = "consensus"

    atoms: str = option(  # type: ignore[assignment]
        "5-30", "Numbers of atoms to compare: 5-30, or 4,8,12, or both."
    )
    replicates: int = sets(ConsensusNMF, "n_replicates")
    batch_size: int = sets(ConsensusNMF, "batch_size")
    holdout: float = sets(ConsensusNMF, "holdout")
    bootstrap: bool | None = sets(ConsensusNMF, "bootstrap", shown="yes under divergences, else no")
    rule: str = sets(ConsensusNMF, "rule")

    def new_model(self) -> ConsensusNMF:
        """Return the model that will learn."""
        template = super().new_model().set_params(n_jobs=None)  # threads go over the replicates
        known = self.parameters(ConsensusNMF)
        return ConsensusNMF(ranks_of(self.atoms), **known, model=template, n_jobs=self.jobs)


class ConsensusTask(RowsTask):
    """Replicates of several numbers of atoms, and the rows that all of them learn from."""

    settings_type = ConsensusSettings
    help = (
        f"{RowsTask.help}\n\nMany replicates of each number of atoms learn from one reading of the "
        "inputs. The run holds the atoms that they agree on; ranks.csv, atoms.csv and "
        "intervals.csv say what was found."
    )
    work = Task.work  # replicates are compared after the passes, which can take longer

    def __init__(self, settings: ConsensusSettings) -> None:
        super().__init__(settings)
        self.holdout = Holdout(0, settings.seed)  # replicates leave out rows of their own

    @property
    def n_atoms(self) -> int:
        """Number of atoms of all replicates of all ranks."""
        # All of them are in memory at once while one reading of the inputs is learned from.
        return int(sum(ranks_of(self.settings.atoms)) * self.settings.replicates)

    @property
    def pass_mass(self) -> float:
        """Number of rows of the first pass, at its end."""
        return float(self.model.n_samples_seen_)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Compare the replicates, and write what was found as tables."""
        model = self.model
        names = self.names or [f"feature_{i}" for i in range(model.n_features_in_)]
        atoms = [f"atom_{i}" for i in range(model.n_components_)]
        table = model.choice_.table
        write_table(folder / "ranks.csv", list(table[0]), (row.values() for row in table))
        # Features as rows: tables of genes or words are read downwards, and columns stay few.
        columns = zip(names, *model.components_.tolist(), strict=True)
        write_table(folder / "atoms.csv", ["feature", *atoms], columns)
        ends = np.concatenate(model.intervals_).tolist()
        heads = [f"{atom}_{end}" for end in ("low", "high") for atom in atoms]
        columns = zip(names, *ends, strict=True)
        write_table(folder / "intervals.csv", ["feature", *heads], columns)
        return self._samples().notes()

    def _samples(self) -> Samples:
        """Return the rows that use each atom most, among the first of the inputs."""
        found = Samples()
        for source in self.sources:
            # A stream is over when it has been read: no rows of it can be shown.
            for block in [] if source.live else source.blocks(0, 0):
                # The same rows that learning has left out have no codes here.
                good = np.flatnonzero(~self.settings.bad_rows(block.X))
                if len(good):
                    codes = self.model.transform(as_known(self.model, block.X[good]))
                    found.look(codes, partial(self._row, source.name, block, good))
                # Enough to find samples that show an atom well; a whole pass would take as long as
                # learning.
                if found.n_seen >= LOOKED_AT:
                    return found
        return found

    def _row(self, source: str, block: Block, good: NDArray, i: int) -> Sample:
        """Return one of the good rows of a block, with its name where it has one."""
        row = int(good[i])
        label = " ".join(str(names[row]) for names in block.labels) or f"row {block.ids[row]}"
        label += f" of {source}" if len(self.sources) > 1 else ""
        values = block.X[[row]]
        return Sample(label, "", (values.toarray() if sp.issparse(values) else values)[0])

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        choice = self.model.choice_
        return super().results() | {"atoms": choice.rank} | choice.facts

    def advice(self, history: History) -> str | None:
        """Return what keeps the choice from being trusted."""
        choice = self.model.choice_
        return choice.doubt or largest_tried(choice.rank, list(choice.ranks))

    def headline(self) -> str:
        """Return why the number of atoms was chosen, and from what."""
        reason = self.model.choice_.reason.rstrip(".")
        return f"{reason}; learned from {self.passes}"


def largest_tried(chosen: int, tried: Sequence[int]) -> str | None:
    """Return advice where a choice is at the end of the list, which may be the only reason."""
    if len(tried) > 1 and chosen == tried[-1]:
        return f"{chosen} is the largest number that was tried; try larger ones too."
    return None


def ranks_of(text: str, name: str = "atoms") -> list[int]:
    """Return the numbers that a text lists, such as 5-30 or 4,8,12.

    Raises
    ------
    ValueError
        For other texts, and for more than 1,000 numbers.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise ValueError(
                f"{name} is {text!r:.80}, needed are numbers of {name} such as 5-30 or 4,8,12."
            )
        # Cut before it is made: 1-999999 should be refused by a sentence, not by memory.
        found |= set(range(first, min(last, first + MOST_RANKS) + 1))
    if len(found) > MOST_RANKS:
        raise ValueError(f"{name} is {text!r:.80}, at most {MOST_RANKS} numbers can be compared.")
    return sorted(found)
