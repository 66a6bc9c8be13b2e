"""Runs on concentrations with uncertainties: factors, how often they return, their ranges."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, track
from atomstream.base.parameters import number, whole
from atomstream.estimators.nmf import OnlineNMF
from atomstream.fields import sources
from atomstream.fields.consensus.run import largest_tried, ranks_of
from atomstream.fields.sources import apportionment
from atomstream.fields.sources.factors import MAPPED_SHARE
from atomstream.fields.sources.species import by_species
from atomstream.io import write_table
from atomstream.runs import Pace, Settings, Task, checkpoints, option
from atomstream.runs.reading import series_reading
from atomstream.watch.callbacks import History


@dataclass(frozen=True)
class SourcesSettings(checkpoints, series_reading, Settings):
    """Settings of a run on a table of concentrations."""

    TASK = "sources"
    ONE_INPUT = "Sources are found in one table"
    OTHER_FILES = ("uncertainty", "limits", "anchors")

    uncertainty: str | None = option(
        None, "Table of the uncertainties of the concentrations, with the same dates and species."
    )
    factors: str = option("3-8", "Numbers of factors to compare: 3-8, or 4,6,8, or both.")
    total: str | None = option(
        None, "Column of a total, such as the mass: left out of the fit, and explained by it."
    )
    limits: str | None = option(None, "Table with one row, the detection limits of species.")
    units: str | None = option(None, "Units of the concentrations, for pictures.")
    strong: tuple[str, ...] = option((), "Species that are strong whatever their signal to noise.")
    weak: tuple[str, ...] = option((), "Species whose uncertainties count three times.")
    anchors: str | None = option(
        None, "Table of known profiles, one a row: the first factors; empty where an entry is free."
    )
    a_value: float = option(0.0, "Share by which entries of known profiles may change.", number())
    half_life: float | None = option(
        None, "Age at which a time counts half: factors of now.", number(above=True), duration=True
    )
    starts: int = option(20, "Random starts of each number of factors.", whole())
    bootstraps: int = option(20, "Block bootstraps of each number of factors.", whole())

    @property
    def sizes(self) -> list[int]:
        """Numbers of components that a model of the run may have."""
        return ranks_of(self.factors, "factors")

    def new_model(self) -> OnlineNMF:
        """Return a model of the smallest number of factors."""
        if not self.uncertainty:
            raise ValueError("Concentrations need their uncertainties; give --uncertainty TABLE.")
        if self.a_value and not self.anchors:
            raise ValueError("--a-value is for known profiles; give --anchors TABLE.")
        return OnlineNMF(self.sizes[0], random_state=self.seed)


class SourcesTask(Task):
    """Starts and block bootstraps of several numbers of factors, one fit after the other."""

    settings_type = SourcesSettings
    help = (
        "TABLE is comma-separated: dates in the first column, concentrations of species in the "
        "others; --uncertainty is a table of the same form. The run has profiles.csv, "
        "contributions.csv, residuals.csv (over their uncertainty), species.csv and numbers.csv."
    )
    argument = "table"
    goal = None
    look = "atomstream.fields.sources.look:SourcesLook"
    reported = {"fits": "n_fits", "factors": "model.n_components"}  # noqa: RUF012 - read only
    model: OnlineNMF

    def __init__(self, settings: SourcesSettings) -> None:
        super().__init__(settings)
        per_number = range(settings.starts + settings.bootstraps)
        self.plan = [(size, number) for size in settings.sizes for number in per_number]
        self.atoms: list[NDArray] = []

    @cached_property
    def table(self) -> sources.SpeciesTable:
        """The concentrations and their uncertainties."""
        asked = self.settings
        kinds = dict.fromkeys(asked.strong, "strong") | dict.fromkeys(asked.weak, "weak")
        known: dict[str, Any] = {name: getattr(asked, name) for name in ("total", "limits")}
        tables = asked.inputs[0], asked.uncertainty
        table = sources.read(*tables, kinds=kinds, **known | asked.reading())
        age = asked.half_life
        return table if age is None else table.with_half_life(np.timedelta64(round(age), "s"))

    @cached_property
    def known(self) -> tuple[NDArray, float] | None:
        """The profiles that are known, and how far they may move."""
        name = self.settings.anchors
        return (
            None
            if name is None
            else (by_species(name, self.table, **self.settings.reading()), self.settings.a_value)
        )

    @property
    def n_fits(self) -> int:
        """Number of starts and bootstraps that were fitted."""
        return len(self.atoms)

    @property
    def position(self) -> tuple[int, ...]:
        """Whether all fits are done, and how many are."""
        return int(self.n_fits == len(self.plan)), self.n_fits

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model: the atoms of all fits."""
        return super().notes() | {"fit_atoms": np.concatenate(self.atoms)}

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(model, notes)
        sizes = [size for size, _ in self.plan[: notes["position"][1]]]
        self.atoms = np.split(notes["fit_atoms"], np.cumsum(sizes))[:-1]

    def advance(self, pace: Pace) -> None:
        """Make the fits that are left; each is whole before a pause."""
        left = self.plan[self.n_fits :]
        for size, place in track(left, len(left), "learning"):
            self.model = self._fitted(size, place)
            self.atoms.append(self.model.components_)
            if self.n_fits == len(self.plan):  # the last model is the one that the run is for
                size = self.choice[0]
                self.model = self._fitted(size, self.compared[size].start)
            if pace.rest():
                break

    def _fitted(self, size: int, number: int) -> OnlineNMF:
        """Return a fit of the plan; its numbers are drawn from its own seed."""
        rng, rows = np.random.default_rng([self.settings.seed, size, number]), None
        if number >= self.settings.starts:
            rows = sources.block_rows(len(self.table.values), None, rng)
        return apportionment.fitted(self.table, size, rng, rows, self.known)

    @cached_property
    def compared(self) -> dict[int, apportionment.Compared]:
        """All numbers of factors."""
        found: dict[int, list[sources.Factors]] = {size: [] for size, _ in self.plan}
        for (size, _), atoms in zip(self.plan, self.atoms, strict=True):
            found[size].append(apportionment.factors_of(self.table, atoms))
        n = self.settings.starts
        return {size: apportionment.compared(fits[:n], fits[n:]) for size, fits in found.items()}

    omitted = (("entries", "_n_missing", "missing: their species' median stands in"),)

    @property
    def _n_missing(self) -> int:
        return int(np.sum(self.table.n_missing))

    @property
    def choice(self) -> tuple[int, str]:
        """The number of factors that the run is for, and why."""
        return apportionment.chosen_number([each.facts for each in self.compared.values()])

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write what was found as tables, and return what the report draws."""
        _, found, ranges, facts = self.compared[self.choice[0]]
        table, rows = self.table, [each.facts for each in self.compared.values()]
        dates, factors = table.dates.astype(str), [f"factor_{i}" for i in range(len(ranges.mapped))]
        bounds = ranges.low, ranges.high
        heads = [f"{name}{of}" for of in ("", "_per_cent", "_low", "_high") for name in factors]
        columns = np.concatenate([found.profiles, found.per_cent(), *bounds])
        _write(folder / "profiles.csv", ["species", *heads], [found.species, *columns])
        of_total = np.zeros((len(dates), 0)) if found.of_total is None else found.of_total
        heads = [*factors, *(f"{name}_of_total" for name in factors[: of_total.shape[1]])]
        columns = np.hstack([found.contributions, of_total]).T
        _write(folder / "contributions.csv", ["date", *heads], [dates, *columns])
        _write(folder / "residuals.csv", ["date", *found.species], [dates, *found.residuals.T])
        heads = ["species", "kind", "signal_to_noise", "missing", "below_limit", "q_over_expected"]
        q = np.full(len(table.species), np.nan)
        q[table.used] = found.q_by_species()
        known = [table.species, table.kinds, table.signal_to_noise, table.n_missing, table.n_below]
        _write(folder / "species.csv", heads, [*known, q])
        write_table(folder / "numbers.csv", list(facts), [list(row.values()) for row in rows])
        q_facts = {"true": found.q_true, "robust": found.q_robust, "expected": found.q_expected}
        return {
            "names": np.array(found.species, object),
            "labels": np.array(dates, object),
            "activities": found.contributions,
            "species_rules": table.rules,
            "profiles": np.concatenate([found.profiles, *bounds]),
            "factor_facts": np.column_stack([found.shares, ranges.mapped / ranges.n_bootstraps]),
            "numbers": np.array([list(row.values()) for row in rows]),
            "figures": {f"Q {name}": value for name, value in q_facts.items()},
        }

    def advice(self, history: History) -> str | None:
        """Return what keeps the number of factors from being trusted."""
        size, reason = self.choice
        steady = self.compared[size].facts["weakest_in_bootstraps"] >= MAPPED_SHARE
        return largest_tried(size, list(self.compared)) if steady else reason

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        if not self.complete:
            return f"{self.n_fits} of {counted(len(self.plan), 'fit')}"
        n_times, n_species = self.compared[self.choice[0]].best.residuals.shape
        found = counted(self.choice[0], "factor")
        return f"{found} of {counted(n_species, 'species', 'species')} at {n_times:,} times"


def _write(path: Path, heads: list[str], columns: list[Any]) -> None:
    """Write a table from its columns."""
    write_table(path, heads, zip(*(np.asarray(each).tolist() for each in columns), strict=True))
