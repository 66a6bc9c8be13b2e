"""Runs on a table of mutations: signatures, their matches, and exposures of the samples."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.base import counted, track
from atomstream.base.parameters import one_of
from atomstream.fields import signatures
from atomstream.fields.consensus.model import ConsensusNMF
from atomstream.fields.consensus.run import largest_tried, ranks_of
from atomstream.fields.signatures.extraction import signature_extractor
from atomstream.io import write_table
from atomstream.io.input_options import RAISE, SKIP
from atomstream.runs import Pace, Settings, Task, checkpoints, option, sets
from atomstream.runs.reading import number_reading
from atomstream.watch import History

MOST_KNOWN = 3  # known signatures that a found one is a sum of


@dataclass(frozen=True)
class SignaturesSettings(checkpoints, number_reading, Settings):
    """Settings of a run on a table of mutations."""

    TASK = "signatures"
    ONE_INPUT = "Signatures are learned from one table"
    OTHER_FILES = ("catalogue",)

    signatures: str = option("1-10", "Numbers of signatures to compare: 1-10, or 4,8,12, or both.")
    catalogue: str | None = option(
        None, "Table of known signatures, to name the found ones and to refit the samples."
    )
    cap: bool = option(False, "Scale hypermutated samples down to the limit before learning.")
    replicates: int = sets(ConsensusNMF, "n_replicates")
    rule: str = sets(ConsensusNMF, "rule", default="reproducibility")
    min_share: float = sets(ConsensusNMF, "min_share")
    on_bad_line: str = option(
        RAISE,
        "raise: a sample without mutations ends the run; skip: it is left out and counted.",
        one_of(RAISE, SKIP),
    )
    min_cosine: float = sets(ConsensusNMF, "min_cosine")
    jobs: int = sets(ConsensusNMF, "n_jobs", default=1, free=True)

    def new_model(self) -> ConsensusNMF:
        """Return the model that will learn."""
        return signature_extractor(ranks_of(self.signatures, "signatures"), **self.parameters())


class SignaturesTask(Task):
    """Bootstraps of several numbers of signatures, learned one number after the other."""

    settings_type = SignaturesSettings
    help = (
        "TABLE is tab-separated: channels in rows, named in the first column (MutationType), "
        "samples in the others; also .gz. The run has signatures.txt, activities.txt, samples.csv "
        "and ranks.csv; with --catalogue also matches.csv, decomposition.csv and "
        "known_activities.txt, whose exposures are to the known signatures that the found ones "
        "are sums of."
    )
    argument = "table"
    goal = None
    look = "atomstream.fields.signatures.look:SignaturesLook"
    reported = {"samples": "_n_samples"}  # noqa: RUF012 - read only
    n_skipped: int = 0
    model: ConsensusNMF

    @cached_property
    def mutations(self) -> signatures.ChannelTable:
        """The counts of the samples."""
        reading = self.settings.reading() | {"on_bad_line": RAISE}
        table = signatures.read(self.settings.inputs[0], **reading)
        if self.settings.on_bad_line == SKIP:
            every, table = table, table.without_empty()
            self.n_skipped = len(every.names) - len(table.names)
        signatures.check_counts(table)
        if self.known is not None:
            self.known.like(table)  # before hours of learning
        return table

    @cached_property
    def known(self) -> signatures.ChannelTable | None:
        """The catalogue; None where none was given."""
        name = self.settings.catalogue
        return None if name is None else signatures.read(name, **self.settings.reading())

    def tallies(self) -> dict[str, int]:
        """Return how many samples were left out."""
        return {"skipped": self.n_skipped} if self.settings.on_bad_line == SKIP else {}

    @property
    def position(self) -> tuple[int, ...]:
        """Whether all numbers were learned, and how many were."""
        n_done = len(self.model.ensemble_.ranks) if self.learned else 0
        return int(n_done == len(self._ranks)), n_done

    @property
    def _ranks(self) -> list[int]:
        return ranks_of(self.settings.signatures, "signatures")

    def advance(self, pace: Pace) -> None:
        """Learn the numbers that are left; each is whole before a pause."""
        table, settings = self.mutations, self.settings
        counts = (signatures.capped(table) if settings.cap else table).values
        done = self.model.ensemble_.ranks if self.learned else []
        left = [rank for rank in self._ranks if rank not in done]
        for rank in track(left, len(left), "learning"):
            found = settings.new_model().set_params(n_components=[rank]).fit(counts)
            found = self.model.joined(found) if self.learned else found
            self.model = found.set_params(n_components=self._ranks)
            if pace.rest():
                break

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write signatures, exposures and matches as tables."""
        table, rows = self.mutations, self.model.choice_.table
        found = signatures.de_novo(self.model, table.channels)
        exposures = signatures.refit(table, found)
        found.write(folder / "signatures.txt")
        exposures.write(folder / "activities.txt")
        write_table(folder / "ranks.csv", list(rows[0]), (list(row.values()) for row in rows))
        limit, over = signatures.hypermutated(table)
        facts = table.values.sum(axis=1), exposures.cosine, exposures.left_out
        samples = zip(table.names, *(each.tolist() for each in facts), strict=True)
        heads = ["sample", "mutations", "hypermutated", "cosine", "left_out"]
        lines = ([name, total, total > limit, *rest] for name, total, *rest in samples)
        write_table(folder / "samples.csv", heads, lines)
        return {
            "names": np.array(table.channels, object),
            "activities": exposures.values,
            "hypermutated": np.array(over, object),
            "matches": np.array(self._matched(found, folder), object),
        }

    def _matched(self, found: signatures.ChannelTable, folder: Path) -> list[str]:
        """Write which known signatures the found ones are; return that in words."""
        if self.known is None:
            return []
        pairs = signatures.match(found, self.known)
        write_table(folder / "matches.csv", ["signature", "known", "cosine"], pairs)
        sums = signatures.decompose(found, self.known, MOST_KNOWN)
        in_words = [
            " + ".join(f"{share:.0%} {name}" for name, share in zip(s.known, s.shares, strict=True))
            for s in sums
        ]
        rows = [(s.name, words, s.cosine) for s, words in zip(sums, in_words, strict=True)]
        write_table(folder / "decomposition.csv", ["signature", "known", "cosine"], rows)
        used = {name for each in sums for name in each.known}
        places = [i for i, name in enumerate(self.known.names) if name in used]
        names = [self.known.names[i] for i in places]
        known = replace(self.known, values=self.known.values[places], names=names)
        signatures.refit(self.mutations, known).write(folder / "known_activities.txt")
        return [f"{words} (cosine {cosine:.3f})" for _, words, cosine in rows]

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        found = super().results() | self.tallies()
        if not self.learned:
            return found
        choice = self.model.choice_
        return found | {"signatures": choice.rank} | choice.facts

    def advice(self, history: History) -> str | None:
        """Return what keeps the number of signatures from being trusted."""
        choice = self.model.choice_
        if choice.by_reproducibility is None:
            return "No number has signatures that all come back; take more samples."
        return choice.doubt or largest_tried(choice.rank, list(choice.ranks))

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        found = counted(self.model.choice_.rank, "signature")
        over = signatures.hypermutated(self.mutations)[1]
        more = f" ({counted(len(over), 'hypermutated sample')}: samples.csv)" if over else ""
        return f"{found} in {counted(len(self.mutations.names), 'sample')}{more}"
