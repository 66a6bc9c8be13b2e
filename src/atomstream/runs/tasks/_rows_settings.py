"""Settings of runs on rows of numbers, and of those that are cut into rounds."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from numpy.typing import NDArray

import atomstream
from atomstream.base.parameters import number, one_of, whole
from atomstream.estimators._parameters import SUPERVISED
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import THEIR_LOSSES
from atomstream.exceptions import InputError
from atomstream.io import STANDARD_INPUT, InputOptions, Naming, axes_of, bad_rows
from atomstream.runs.reading import triple_reading
from atomstream.runs.settings import Settings, checkpoints, option, sets
from atomstream.runs.tasks import _passes
from atomstream.schedules import Constant

MODELS = {"nmf": "OnlineNMF", "dictionary": "OnlineDictionaryLearning", "convex": "OnlineConvexMF"}


@dataclass(frozen=True)
class RowsSettings(checkpoints, triple_reading, Settings):
    """Settings of a run on rows of numbers or images."""

    label: ClassVar[str | None] = None  # a setting where models can learn from labels

    atoms: int = sets(OnlineNMF, "n_components")
    model: str = option(
        "nmf",
        "nmf: nonnegative codes and atoms; dictionary: signed ones; convex: atoms made of samples.",
        one_of(*MODELS),
    )
    loss: str = sets(OnlineNMF, "loss")
    updater: str = sets(OnlineNMF, "updater")
    zeros: str = option(
        "floor",
        "Where the loss is infinite at zeros: floor raises entries to 1e-8 of the mean of their "
        "row, refuse ends the run at a zero.",
        one_of("floor", "refuse"),
    )
    alpha: float | None = sets(
        OnlineNMF, "alpha", default=None, shown="0 for nmf, 0.1 for the others"
    )
    ridge: float | None = sets(
        OnlineNMF,
        "ridge",
        default=None,
        shown="0; with --missing what predicts hidden entries best",
    )
    scale: str = sets(OnlineNMF, "scale")
    schedule: str = sets(OnlineNMF, "schedule")
    half_life: float | None = option(
        None,
        "Number of samples after which the past weighs half; instead of --schedule.",
        number(above=True),
    )
    epochs: int | None = _passes.epochs_option("rows")
    batch_size: int = sets(OnlineNMF, "batch_size")
    missing: bool = sets(
        OnlineNMF, "missing", help="Treat empty fields and NaN as missing entries."
    )
    id: tuple[str, ...] = option(
        (),
        "Column of tables that names rows: kept beside codes, never learned; may be repeated.",
        whole=True,
    )
    key: str | None = option(
        None,
        "Name of the array in an .npz or HDF5 file, or a Zarr group; of an .h5ad file X, raw/X or "
        "a layer such as layers/counts.",
    )
    sample_axes: str | None = option(
        None,
        "Axes of arrays of three axes or more that hold the samples, such as 0,1 for the pixels of "
        "a spectral image; the others hold the features.",
        shown="the first one",
    )
    patch: int = option(12, "Height and width of the patches of images, in pixels.", whole())
    grey: bool = option(False, "Turn colour images into grey ones.")
    per_image: int = option(20_000, "Patches drawn from each image in a pass.", whole())
    center: bool = option(False, "Subtract the mean of each patch (for --model dictionary).")
    holdout: float = option(
        0.05,
        "Share of the rows, at most 256 of them, to keep out of learning for the report.",
        number(0, 1, below=True),
    )
    jobs: int = sets(OnlineNMF, "n_jobs", default=1, free=True)
    representatives: int = option(
        150, "Number of samples that all atoms are made of (for --model convex).", whole()
    )

    def check(self) -> None:
        """Raise ValueError where the settings do not go together; keep our name of the loss."""
        # Names of scikit-learn are taken too; files then hold one name for one loss.
        object.__setattr__(self, "loss", THEIR_LOSSES.get(self.loss, self.loss))
        if self.half_life is not None and self.schedule != "power":
            raise ValueError(
                f"half_life={self.half_life!r} and schedule={self.schedule!r} exclude each other; "
                "give one of them."
            )
        if self.triples:
            object.__setattr__(self, "missing", True)  # what is not listed
            if self.label is not None or getattr(self, "slots", None) is not None:
                other = "--slots and --engine" if self.label is None else "--label"
                raise InputError(
                    f"--triples and {other} exclude each other; leave one of them out."
                )
        # What was read cannot be read again: a second pass would need a file.
        if STANDARD_INPUT in self.inputs and (self.epochs or 1) > 1:
            raise InputError(f"Standard input can be read once, --epochs is {self.epochs}.")
        super().check()

    def input_options(self) -> InputOptions:
        """Return how inputs are to be read."""
        beside = (*([] if self.label is None else [self.label]), *self.id)
        return InputOptions(
            **self.reading(),
            key=self.key,
            patch=self.patch,
            grey=self.grey,
            per_image=self.per_image,
            center="patch" if self.center else None,
            seed=self.seed,
            naming=Naming(beside, kept=bool(beside)),
            sample_axes=axes_of(self.sample_axes),
        )

    @property
    def model_class(self) -> str:
        """Name of the class of the model."""
        return MODELS[self.model]

    def of_labels(self) -> dict[str, Any]:
        """Return the parameters that say what is predicted; by default nothing is."""
        return {}

    def bad_rows(self, X: Any) -> NDArray:
        """Return which rows the model would refuse."""
        return bad_rows(X, missing=self.missing, nonnegative=self.model == "nmf")

    def new_model(self) -> Any:
        """Return the model that will learn."""
        kind, given = getattr(atomstream, self.model_class), self.parameters(OnlineNMF)
        flags = {each.metadata.get("sets"): each for each in fields(self)}
        # The settings are those of all three models together: one that a model lacks is an error
        # only where somebody has asked for it.
        for name in set(given) - set(kind.PARAMETERS):
            if given.pop(name) != flags[name].default:
                said = f"The model {self.model!r}" if self.label is None else "A model with --label"
                raise ValueError(f"{said} has no --{flags[name].name}.")
        given |= self.of_labels()
        if self.half_life is not None:
            given["schedule"] = Constant(half_life=self.half_life)
        if self.model == "convex":
            given["n_representatives"] = self.representatives
            if self.representatives < self.atoms:
                raise ValueError(
                    "The model 'convex' needs a representative for each atom, got "
                    f"{self.representatives} representatives of {self.atoms} atoms."
                )
        model = kind(**given)
        # Set only where asked: most losses have no such parameter.
        return model if self.zeros == "floor" else model.set_params(loss__zeros=self.zeros)


@dataclass(frozen=True)
class LearnSettings(RowsSettings):
    """Settings of a run on rows, which can be cut into rounds over shards for many workers."""

    label: str | None = option(  # type: ignore[misc]
        None,
        "Column of tables that holds the label of each row, or nothing: codes then predict it.",
        whole=True,
    )
    label_kind: str = option("classes", SUPERVISED["labels"].help, SUPERVISED["labels"])
    label_weight: float = option(0.3, SUPERVISED["weight"].help, SUPERVISED["weight"])
    classes: tuple[str, ...] = option((), SUPERVISED["classes"].help, whole=True)
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

    def check(self) -> None:
        """Settle the number of slots, which belongs to the run, where only an engine is given."""
        if self.engine is not None and self.slots is None:
            # Written to the settings, so that a resume with another engine keeps the same slots.
            object.__setattr__(self, "slots", 4)
        if self.label is not None and self.model != "nmf":
            raise ValueError(f"--label needs --model nmf, got {self.model!r}.")
        super().check()

    @property
    def model_class(self) -> str:
        """Name of the class of the model."""
        return super().model_class if self.label is None else "SupervisedDictionary"

    def of_labels(self) -> dict[str, Any]:
        """Return the parameters that say what is predicted."""
        if self.label is None:
            return {}
        known = {"labels": self.label_kind, "weight": self.label_weight}
        return known | {"classes": list(self.classes) or None}
