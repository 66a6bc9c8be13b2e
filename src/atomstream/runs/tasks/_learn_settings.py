"""Settings of ``atomstream learn``: those of rows, of ways that fields add, and of rounds."""

from dataclasses import dataclass, fields
from typing import Any

from atomstream.base.declared import declared, loaded
from atomstream.base.parameters import number, one_of, whole
from atomstream.runs.settings import option
from atomstream.runs.tasks import _passes
from atomstream.runs.tasks._rows_settings import MODELS, OF_MODEL, RowsSettings

WAYS = declared("rows")
FURTHER = {name: way for name, way in WAYS.items() if "model" in way}
# Settings of rows, with the fields of all ways.
kinds = tuple(loaded(way["settings"]) for way in WAYS.values()) or (RowsSettings,)
Ways: Any = type("Ways", kinds, {})
SHARED = {each.name for each in fields(RowsSettings)}
OF_WAYS = {
    way: [each for each in fields(kind) if each.name not in SHARED]
    for way, kind in zip(WAYS, kinds, strict=False)
}


@dataclass(frozen=True)
class LearnSettings(Ways):
    """Settings of a run on rows, which can be cut into rounds over shards for many workers."""

    model: str = option(
        "nmf",
        "; ".join([OF_MODEL, *(f"{name}: {way['help']}" for name, way in FURTHER.items())]) + ".",
        one_of(*MODELS, *FURTHER),
    )
    settle: int | None = _passes.settle_option()
    engine: str | None = option(
        None,
        "Where rounds over shards run: threads, processes, processes:4 or dask://host:port.",
        free=True,
    )
    slots: int | None = option(
        None,
        "Parallel parts of a round; they decide what is learned, the number of workers does not.",
        whole(),
        shown="4 with --engine",
    )
    shard_rows: int = option(65_536, "Rows of a shard, at most (with --slots).", whole())
    warmup: int = option(4096, "Rows learned before rounds have several slots.", whole(0))
    round_rows: int = option(512, "Rows of each slot in the first round.", whole())
    round_batch: int = option(128, "Rows per step of a slot.", whole())
    round_growth: float = option(
        1.05, "Growth of the rows of a slot from round to round.", number(1)
    )
    round_mode: str = option(
        "local",
        "local: slots take steps and are averaged; frozen: one step a round on all their rows.",
        one_of("local", "frozen"),
    )
    on_bad_shard: str = option(
        "raise",
        "raise: a shard that cannot be learned from ends the run; skip: it is left out and listed.",
        one_of("raise", "skip"),
    )
    round_timeout: float | None = option(
        None,
        "Time without any result after which tasks are given out again, and then the run ends.",
        number(above=True),
        duration=True,
        free=True,
        shown="1h",
    )

    def written(self) -> list[Any]:
        """Return the fields that files hold: those of further ways only where they are used.

        Else a run could not be read where a field that it has nothing of is not there.
        """
        unused = {
            each.name
            for way, own in OF_WAYS.items()
            if self.model != way and all(getattr(self, it.name) == it.default for it in own)
            for each in own
        }
        return [each for each in super().written() if each.name not in unused]

    @property
    def model_class(self) -> str:
        """Name of the class of the model."""
        further = FURTHER.get(self.model)
        return str(super().model_class if further is None else further["model"])

    def check(self) -> None:
        """Settle the number of slots, which belongs to the run, where only an engine is given."""
        if self.engine is not None and self.slots is None:
            # Written to the settings, so that a resume with another engine keeps the same slots.
            object.__setattr__(self, "slots", 4)
        super().check()
