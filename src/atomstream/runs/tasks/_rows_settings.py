"""Settings of runs on rows of numbers, and of those that are cut into rounds."""

from dataclasses import dataclass, fields
from typing import Any

from numpy.typing import NDArray

import atomstream
from atomstream.base.parameters import number, one_of, whole
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import THEIR_LOSSES
from atomstream.exceptions import InputError
from atomstream.io import STANDARD_INPUT, InputOptions, Naming, axes_of, bad_rows
from atomstream.runs.reading import triple_reading
from atomstream.runs.settings import Settings, checkpoints, option, sets
from atomstream.runs.tasks import _passes
from atomstream.schedules import Constant

MODELS = {"nmf": "OnlineNMF", "dictionary": "OnlineDictionaryLearning"}
OF_MODEL = "nmf: nonnegative codes and atoms; dictionary: signed ones"


@dataclass(frozen=True)
class RowsSettings(checkpoints, triple_reading, Settings):
    """Settings of a run on rows of numbers or images."""

    atoms: int = sets(OnlineNMF, "n_components")
    model: str = option("nmf", f"{OF_MODEL}.", one_of(*MODELS))
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
            if self.label_column is not None or getattr(self, "slots", None) is not None:
                other = "--slots and --engine" if self.label_column is None else "--label"
                raise InputError(
                    f"--triples and {other} exclude each other; leave one of them out."
                )
        # What was read cannot be read again: a second pass would need a file.
        if STANDARD_INPUT in self.inputs and (self.epochs or 1) > 1:
            raise InputError(f"Standard input can be read once, --epochs is {self.epochs}.")
        super().check()

    def input_options(self) -> InputOptions:
        """Return how inputs are to be read."""
        beside = (*([] if self.label_column is None else [self.label_column]), *self.id)
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

    @property
    def label_column(self) -> str | None:
        """Name of the column with labels that are learned from; None without one."""
        return None

    def of_model(self) -> dict[str, Any]:
        """Return parameters that only some of the models have."""
        return {}

    def why_nothing(self, name: str) -> str | None:
        """Return why rows of an input taught nothing, where that can be said."""

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
                said = (
                    f"The model {self.model!r}"
                    if self.label_column is None
                    else "A model with --label"
                )
                raise ValueError(f"{said} has no --{flags[name].name}.")
        given |= self.of_model()
        if self.half_life is not None:
            given["schedule"] = Constant(half_life=self.half_life)
        model = kind(**given)
        # Set only where asked: most losses have no such parameter.
        return model if self.zeros == "floor" else model.set_params(loss__zeros=self.zeros)
