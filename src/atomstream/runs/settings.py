"""What a run was asked to do, as one value that can be written to a file and read back."""

from __future__ import annotations

import json
import tomllib
import types
import typing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from atomstream.core.method import check_compatible
from atomstream.estimators._validation import check_settings
from atomstream.estimators.convex import OnlineConvexMF
from atomstream.estimators.dictionary_learning import OnlineDictionaryLearning
from atomstream.estimators.network import NetworkDictionary
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.topics import TopicModel
from atomstream.estimators.walk import RandomWalkFactorization
from atomstream.io.inputs import InputOptions
from atomstream.schedules import Constant

__all__ = [
    "MODELS",
    "NetworkSettings",
    "RunSettings",
    "Settings",
    "TextSettings",
    "WalkSettings",
    "kind_of",
    "read_settings",
    "write_settings",
]

MOST = 2**31
MODELS = {"nmf": OnlineNMF, "dictionary": OnlineDictionaryLearning, "convex": OnlineConvexMF}


@dataclass(frozen=True)
class RunSettings:
    """Settings of any kind of run: each field has its type and, where it is a number, its least value."""

    inputs: tuple[str, ...] = ()

    COMMAND: ClassVar[str] = "learn"
    LEAST: ClassVar[dict[str, float]] = {}
    FREE: ClassVar[
        tuple[str, ...]
    ] = ()  # for how long, how often saved, on how many cores: not what is learned

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in fields(self):
            value = getattr(self, field.name)
            made = _made(value, hints[field.name])
            if made is None and value is not None:
                raise ValueError(
                    f"{field.name} is {value!r:.80}, needed is {_told(hints[field.name])}."
                )
            object.__setattr__(self, field.name, made)
            for text in made if isinstance(made, tuple) else [made]:
                if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                    raise ValueError(f"{text!r} is not UTF-8; rename it.")
        for name, bound in self.LEAST.items():
            value = getattr(self, name)
            if value is not None and not bound <= value < float("inf"):
                raise ValueError(f"{name} is {value!r}, needed is at least {bound}.")
            if value is not None and value > MOST:
                raise ValueError(f"{name} is {value!r}, needed is at most {MOST}.")

    def changed(self, **changes: Any) -> Self:
        """Return settings with some changed."""
        return replace(self, **changes)

    def decisive(self) -> list[str]:
        """Return the settings that decide what is learned, as lines: not for how long or on how many cores."""
        lines = write_settings(self).splitlines()[1:]
        return [line for line in lines if line.split(" = ")[0] not in self.FREE]


@dataclass(frozen=True)
class Settings(RunSettings):
    """Settings of a run on rows of numbers or images; the names are those of the command line.

    Parameters
    ----------
    inputs : tuple of str
    atoms : int
        Number of atoms.
    model : {"nmf", "dictionary"}
        Nonnegative or signed.
    loss, method, zeros, alpha, schedule, batch_size, missing, jobs
        As the models' ``loss``, ``method``, ``zeros``, ``alpha``, ``schedule``, ``batch_size``,
        ``missing``, ``n_jobs``.
    half_life : float, optional
        In samples; forgets at a constant rate and takes the place of ``schedule``.
    epochs : int
        Passes over the inputs.
    columns, key, patch, grey, per_image, center
        How inputs are read, see `atomstream.io.inputs.InputOptions`.
    holdout : float
        Share of the rows that is kept out of learning, at most a few hundred.
    seed : int
    checkpoint_every : float, optional
        Seconds; without it a minute, or fifty times what the last one took.
    keep : int
        Checkpoints that are kept.
    representatives : int
        Of all atoms of the model "convex" together.
    """

    atoms: int = 20
    model: str = "nmf"
    loss: str = "squared"
    method: str = "auto"
    zeros: str = "floor"
    alpha: float | None = None
    schedule: str = "power"
    half_life: float | None = None
    epochs: int = 1
    batch_size: int = 256
    missing: bool = False
    columns: tuple[str, ...] = ()
    key: str | None = None
    patch: int = 12
    grey: bool = False
    per_image: int = 20_000
    center: bool = False
    holdout: float = 0.05
    seed: int = 0
    jobs: int = 1
    checkpoint_every: float | None = None
    keep: int = 3
    representatives: int = 150

    LEAST = {  # noqa: RUF012 - declared in the base
        "atoms": 1,
        "representatives": 1,
        "epochs": 1,
        "batch_size": 1,
        "patch": 1,
        "per_image": 1,
        "keep": 1,
        "seed": 0,
        "alpha": 0,
        "holdout": 0,
        "checkpoint_every": 0,
    }
    FREE = ("epochs", "checkpoint_every", "keep", "jobs")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.half_life is not None and not 0 < self.half_life < float("inf"):
            raise ValueError(
                f"half_life is {self.half_life!r}, needed is a number of samples above 0."
            )
        if self.holdout >= 1:
            raise ValueError(f"holdout is {self.holdout!r}, needed is a share below 1.")
        if self.model not in MODELS:
            raise ValueError(f"model is {self.model!r}, needed is one of {', '.join(MODELS)}.")
        if self.half_life is not None and self.schedule != "power":
            raise ValueError(
                f"half_life={self.half_life!r} and schedule={self.schedule!r} exclude each other; give one of them."
            )
        model = self.new_model()
        check_settings(model)
        check_compatible(model.method_)
        model._schedule()

    def wanted(self) -> InputOptions:
        """Return how inputs are to be read."""
        center = "patch" if self.center else None
        return InputOptions(
            self.columns, self.key, self.patch, self.grey, self.per_image, center, self.seed
        )

    def new_model(self) -> Any:
        """Return the model that will learn."""
        schedule: Any = (
            self.schedule if self.half_life is None else Constant(half_life=self.half_life)
        )
        given: dict[str, Any] = {} if self.alpha is None else {"alpha": self.alpha}
        if self.model == "nmf":
            given |= {"loss": self.loss, "method": self.method, "zeros": self.zeros}
        elif (self.loss, self.method, self.zeros) != ("squared", "auto", "floor"):
            raise ValueError(
                f"The model {self.model!r} knows the squared loss only, and neither --method nor --zeros."
            )
        if self.model == "convex":
            if self.missing or self.representatives < self.atoms:
                raise ValueError(
                    "The model 'convex' needs complete rows and a representative for each atom, got "
                    f"missing={self.missing} and {self.representatives} representatives of {self.atoms} atoms."
                )
            given |= {"n_representatives": self.representatives}
        else:
            given |= {"missing": self.missing}
        return MODELS[self.model](
            self.atoms,
            schedule=schedule,
            batch_size=self.batch_size,
            n_jobs=self.jobs,
            random_state=self.seed,
            **given,
        )


@dataclass(frozen=True)
class NetworkSettings(RunSettings):
    """Settings of a run on a network; the names are those of the command line.

    Parameters
    ----------
    inputs : tuple of str
        One file of edges.
    domain : {"network"}
        What kind of run this is.
    atoms, batches
        As ``n_components`` and ``n_batches`` of `atomstream.NetworkDictionary`.
    motif, alpha, chain, schedule, batch_size, thin
        As the model's parameters.
    seed : int
    checkpoint_every : float, optional
        Seconds; without it a minute, or fifty times what the last one took.
    keep : int
        Checkpoints that are kept.
    """

    domain: str = "network"
    motif: str = "path:5"
    atoms: int = 25
    alpha: float = 0.0
    chain: str = "pivot"
    schedule: str = "power"
    batches: int = 100
    batch_size: int = 1000
    thin: int = 1
    seed: int = 0
    checkpoint_every: float | None = None
    keep: int = 3

    LEAST = {  # noqa: RUF012 - declared in the base
        **dict.fromkeys(("atoms", "batches", "batch_size", "thin", "keep"), 1),
        **dict.fromkeys(("alpha", "seed", "checkpoint_every"), 0),
    }
    FREE = ("batches", "checkpoint_every", "keep")
    COMMAND = "network learn"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain != "network":
            raise ValueError(f"domain is {self.domain!r}, needed is network.")
        if len(self.inputs) != 1:
            raise ValueError(
                f"A network is learned from one file of edges, got {len(self.inputs)}."
            )
        self.new_model().check()

    def new_model(self) -> NetworkDictionary:
        """Return the model that will learn."""
        return NetworkDictionary(
            self.motif,
            self.atoms,
            alpha=self.alpha,
            chain=self.chain,
            schedule=self.schedule,
            n_batches=self.batches,
            batch_size=self.batch_size,
            thin=self.thin,
            random_state=self.seed,
        )


@dataclass(frozen=True)
class WalkSettings(RunSettings):
    """Settings of a run on trips or on a walk; the names are those of the command line.

    Parameters
    ----------
    inputs : tuple of str
        One file.
    domain : {"walk"}
        What kind of run this is.
    states : bool
        Whether the file holds the states of a walk, and not trips.
    origin, destination : tuple of str
        Columns of longitude and latitude.
    cell : float
        Metres along the side of a cell.
    min_count : int
        Cells that are met less often are dropped.
    rank, tau
        As ``n_components`` and ``tau`` of `atomstream.RandomWalkFactorization`.
    clusters : int
    passes : int
        Over the file.
    seed : int
    """

    domain: str = "walk"
    states: bool = False
    origin: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    cell: float = 250.0
    min_count: int = 20
    rank: int = 10
    clusters: int = 10
    passes: int = 1
    tau: int = 1
    seed: int = 0

    LEAST = {  # noqa: RUF012 - declared in the base
        **dict.fromkeys(("min_count", "rank", "clusters", "passes", "tau", "cell"), 1),
        "seed": 0,
    }
    COMMAND = "walk partition"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain != "walk":
            raise ValueError(f"domain is {self.domain!r}, needed is walk.")
        if len(self.inputs) != 1:
            raise ValueError(f"Trips or states are learned from one file, got {len(self.inputs)}.")
        for name in ("origin", "destination"):
            if not self.states and len(getattr(self, name)) != 2:
                raise ValueError(
                    f"--{name} must be the columns of longitude and latitude, parted by a comma."
                )
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"--{name} names one column twice.")
        if self.states and (self.origin or self.destination):
            raise ValueError("A file of states has no --origin or --destination.")

    def new_model(self) -> RandomWalkFactorization:
        """Return the model that will learn."""
        return RandomWalkFactorization(self.rank, tau=self.tau, random_state=self.seed)


@dataclass(frozen=True)
class TextSettings(RunSettings):
    """Settings of a run on documents; the names are those of the command line.

    Parameters
    ----------
    inputs : tuple of str
        Files of documents.
    domain : {"text"}
        What kind of run this is.
    per : {"line", "file"}
        What a document is in text files.
    field : str
        Of JSON lines: which field is the text.
    column : str, optional
        Of tables: which column is the text.
    topics, vectorizer, features, min_df, alpha, schedule, batch_size, epochs
        As ``n_components``, ``vectorizer``, ``n_features``, ... of `atomstream.TopicModel`.
    stop_words : {"english", "none"}
    seed : int
    checkpoint_every : float, optional
        Seconds; without it a minute, or fifty times what the last one took.
    keep : int
        Checkpoints that are kept.
    """

    domain: str = "text"
    per: str = "line"
    field: str = "text"
    column: str | None = None
    topics: int = 20
    vectorizer: str = "hashing"
    features: int = 2**15
    stop_words: str = "english"
    min_df: int = 1
    alpha: float = 0.0
    schedule: str = "power"
    batch_size: int = 256
    epochs: int = 10
    seed: int = 0
    checkpoint_every: float | None = None
    keep: int = 3

    LEAST = {  # noqa: RUF012 - declared in the base
        **dict.fromkeys(("topics", "features", "min_df", "batch_size", "epochs", "keep"), 1),
        **dict.fromkeys(("alpha", "seed", "checkpoint_every"), 0),
    }
    FREE = ("epochs", "checkpoint_every", "keep")
    COMMAND = "text topics"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = {"domain": ("text",), "per": ("line", "file"), "stop_words": ("english", "none")}
        for name, choices in known.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, needed is {' or '.join(choices)}."
                )
        if not self.inputs:
            raise ValueError("No documents were given; name files of texts, JSON lines or tables.")
        self.new_model().check()

    def new_model(self) -> TopicModel:
        """Return the model that will learn."""
        return TopicModel(
            self.topics,
            vectorizer=self.vectorizer,
            n_features=self.features,
            stop_words=None if self.stop_words == "none" else self.stop_words,
            min_df=self.min_df,
            alpha=self.alpha,
            schedule=self.schedule,
            batch_size=self.batch_size,
            n_epochs=self.epochs,
            random_state=self.seed,
        )


DOMAINS = {"network": NetworkSettings, "text": TextSettings, "walk": WalkSettings}


def read_settings(path: str | Path, kind: type[RunSettings] | None = None) -> dict[str, Any]:
    """Return the settings that a TOML file gives, for one kind of run or for the kind that it names.

    Raises
    ------
    ValueError
        For what is no TOML, and for names that are no settings, listing those that are.
    """
    try:
        told = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}.") from None
    kind = kind_of(told) if kind is None else kind
    known = [field.name for field in fields(kind)]
    for name in told:
        if name not in known:
            raise ValueError(
                f"{path} sets {name!r}, which is no setting; known are {', '.join(known)}."
            )
    return told


def kind_of(told: dict[str, Any]) -> type[RunSettings]:
    """Return the class of the settings that a file tells."""
    from atomstream.runs.series_settings import SERIES

    return (DOMAINS | SERIES).get(str(told.get("domain")), Settings)


def write_settings(settings: RunSettings) -> str:
    """Return settings as TOML; those that are not given are left out."""
    lines = [
        f"# atomstream {settings.COMMAND} --config run.toml --out ANOTHER_RUN does the same again"
    ]
    for field in fields(settings):
        value = getattr(settings, field.name)
        if value is not None:
            lines.append(f"{field.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _made(value: Any, kind: Any) -> Any:
    """Return the value as one of this kind, None where it is none."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    if typing.get_origin(kind) is tuple:
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list | tuple) and all(isinstance(item, str) for item in items):
            return tuple(items)
        return None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if type(value) is kind else None


def _told(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if isinstance(kind, types.UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    return names.get(kind, "a list of texts")
