"""Kinds of runs: a `Task` opens inputs and learns from them; what checkpoints keep of it."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from atomstream.base import counted
from atomstream.base.declared import find, loaded
from atomstream.base.saved_fields import (
    Field,
    array,
    count,
    each,
    number,
    of_table,
    one_of,
    part,
    texts,
)
from atomstream.exceptions import (
    CorruptModelError,
    IncompatiblePartsError,
    InputError,
    ModelFileError,
)
from atomstream.files.codec import SENSELESS, read_model
from atomstream.io.source import Input, InputFile
from atomstream.runs import Settings, kind_named, kinds_of_runs
from atomstream.watch import Callback, History, Learner, figures_on


class Pace(Protocol):
    """What the engine of runs offers to a task while it learns."""

    def bar(self, text: str) -> Callback:
        """Return a callback that shows the progress of something with this name."""
        ...

    def note(self, learner: Learner) -> None:
        """Keep the objective of the batch that the learner has just learned from."""
        ...

    def due(self) -> bool:
        """Return whether to come back from `Task.advance`: a checkpoint or an end is due."""
        ...

    def rest(self) -> bool:
        """Keep a checkpoint if one is due, and return whether to stop; the model is whole now."""
        ...


class Work(NamedTuple):
    """How much there is to learn: samples of a pass, their features, passes, and rounds at most.

    Inputs may not tell their number of samples (``is_told``): then it is that of their beginning,
    times their length. Pages of ``mapped`` bytes of files come into memory as they are read.
    """

    n_samples: int
    n_features: int
    n_passes: int = 1
    n_rounds: int = 0
    batch_size: int = 1
    is_told: bool = True
    mapped: int = 0


class Task(ABC):
    """A kind of run, at work: the inputs, the model, and where it stands in them.

    A task is made from its settings, opens its inputs, and is then advanced until it is complete.
    All that it keeps beside the model goes through `notes` and `restore`.

    Parameters
    ----------
    settings : Settings
    """

    settings_type: ClassVar[type[Settings]]
    help: ClassVar[str]  # what the command takes and leaves
    argument: ClassVar[str] = "inputs"  # what the command calls its inputs
    many: ClassVar[bool] = False  # whether it takes several
    unit: str = "sample"  # what the learner learns from, such as "row"
    goal: ClassVar[str | None] = "epochs"  # the setting of how far to go, which resume can change
    words: ClassVar[Mapping[str, str]] = {}  # what the model says, in those of the command line
    look: ClassVar[str] = ""  # the place of that of its runs, where that of the model does not do
    noted: ClassVar[tuple[str, ...]] = ()  # attributes that a checkpoint keeps
    # The results, and where the task has them.
    reported: ClassVar[Mapping[str, str]] = {
        "atoms": "settings.atoms",
        "samples": "_n_samples",
        "steps": "_n_steps",
    }
    # What it may leave out, where it has the number of it, and why.
    omitted: ClassVar[Sequence[tuple[str, str, str]]] = ()
    overlap: int = 1  # batches in a row that share rows
    live: bool = False  # whether it learns from a stream that can be read only once
    held_labels: Any = None  # of the rows held out, where the model predicts some
    holdout: Any = None  # a `Holdout`, where some rows are kept out of learning
    model: Any

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.model = settings.new_model()

    @cached_property
    def sources(self) -> Sequence[Input]:
        """What it reads: files, where a kind of run opens nothing else."""
        return [InputFile(name) for name in self.settings.files]

    @property
    def held_out(self) -> Any:
        """Rows that are kept out of learning, for the history."""
        return None if self.holdout is None else self.holdout.rows

    @property
    def learned(self) -> bool:
        """Whether there is a model that can be saved."""
        return bool(self.model.__sklearn_is_fitted__())

    @property
    def _n_samples(self) -> int:
        """Number of samples that the learner has learned from."""
        learner = getattr(self.model, "learner_", self.model)
        return int(learner.n_samples_seen_) if self.learned else 0

    @property
    def _n_steps(self) -> int:
        """Number of steps that the model has taken."""
        return int(self.model.n_steps_) if self.learned else 0

    def left_out(self) -> list[dict[str, Any]]:
        """Return what was not learned from: what it is, how many there are, and why."""
        found = [(what, attrgetter(place)(self), why) for what, place, why in self.omitted]
        if self.holdout is not None:
            found.append((f"{self.unit}s", len(self.holdout.keys), "held out to judge by"))
        return [{"what": what, "count": int(n), "why": why} for what, n, why in found if n]

    @property
    @abstractmethod
    def position(self) -> tuple[int, ...]:
        """Where it stands: passes complete of the ``goal``, then input and row of the next."""

    @property
    def beyond(self) -> tuple[int, ...]:
        """Where it stands beyond the passes that are complete; 0 where it has begun no other."""
        return self.position[1:]

    @property
    def complete(self) -> bool:
        """Whether all that was asked for was learned."""
        # The same question as is asked of a folder, so that a run and what is said of it agree.
        notes = {"position": self.position}
        return self.learned and bool(self.finished(self.settings, self.model, notes))

    def work(self) -> Work:
        """Return how much there is to learn, from the sizes of the inputs."""
        raise InputError(f"There is no estimate of atomstream {self.settings.command()}.")

    @classmethod
    def finished(cls, settings: Any, model: Any, notes: dict[str, Any]) -> bool | None:
        """Return whether a run with these notes is complete; None where that cannot be said."""
        return bool(notes["position"][0] >= (getattr(settings, cls.goal) if cls.goal else 1))

    @abstractmethod
    def advance(self, pace: Pace) -> None:
        """Learn until all is learned or ``pace`` asks to come back; the model is whole then."""

    def stop(self) -> None:  # noqa: B027 - most kinds of runs never wait
        """Stop waiting for inputs, if it does; may be called at any moment."""

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model."""
        known = {"position": list(self.position), **{n: getattr(self, n) for n in self.noted}}
        if self.holdout is not None:  # judged here, so that who inspects a run needs no compiler
            known |= {"holdout": self.holdout.notes(), **self._judged()}
        return known

    def _judged(self) -> dict[str, Any]:
        """Return the figures on rows held out, as a note."""
        figures = figures_on(self.model, self.held_out, self.held_labels)
        # Files refuse NaN among figures; they are computed again by whoever looks at such a model.
        return {"figures": figures} if np.isfinite([*figures.values()]).all() else {}

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint, with the settings that may have changed since."""
        # Before the model replaces the one at hand: a refusal leaves the task as it was.
        check_model(self.settings, model)
        # Only free settings may differ from the checkpoint's: the others decide what is learned.
        self.model = model.set_params(**self.settings.parameters(free=True))
        vars(self).update({name: notes[name] for name in self.noted})
        if self.holdout is not None:
            self.holdout.restore(notes["holdout"])

    def tallies(self) -> dict[str, int]:
        """Return counts for the log, by their names."""
        return {}

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the results of a complete run, and return what the report needs of them."""
        return {}

    def explained(self, error: ValueError) -> str:
        """Return what a model complains about in the words of the command line."""
        return self.in_flags(str(error))

    def in_flags(self, sentence: str) -> str:
        """Return a sentence of a model, which names parameters, with the flags for them."""
        return reduce(lambda text, pair: text.replace(*pair), self.words.items(), sentence)

    def results(self) -> dict[str, Any]:
        """Return what the run came to, for machines."""
        return {name: attrgetter(place)(self) for name, place in self.reported.items()}

    def advice(self, history: History) -> str | None:
        """Return a sentence on what would help a complete run; None, the default: nothing."""
        return None

    def headline(self) -> str:
        """Return what the run came to in a few words, such as "20 atoms from 5,000 samples"."""
        return f"{counted(self.settings.atoms, 'atom')} from {self._learned_from}"

    @property
    def _learned_from(self) -> str:
        """What it has learned from, in a few words."""
        return counted(self._n_samples, self.unit)


def check_model(settings: Settings, model: Any) -> None:
    """Refuse the model of another kind of run, or one of another size than was asked for."""
    needed = settings.new_model()
    # Kind and size only: a model can go on with other parameters that were changed by hand.
    sizes = getattr(settings, "sizes", [getattr(needed, "n_components", None)])
    if type(model) is type(needed) and model.n_components in sizes:
        return
    found = f"a {type(model).__name__}"
    raise InputError(
        f"The checkpoint holds {found} of {model.n_components} components, needed is a "
        f"{type(needed).__name__} of {needed.n_components}; it belongs to another run."
        if hasattr(model, "n_components")
        else f"The checkpoint holds {found}, needed is a {type(needed).__name__}."
    )


def task_named(name: str) -> type[Task]:
    """Return the kind of run that a ``run.toml`` names.

    Raises
    ------
    ValueError
        For an unknown name, listing those that are known.
    """
    known = kind_named(name)
    if known is None:
        raise ValueError(
            f"domain is {name!r}, known are {', '.join(filter(None, kinds_of_runs()))}."
        )
    found: type[Task] = loaded(known.task)
    return found


def task_of(kind: type[Task], settings: Any) -> Task:
    """Return a task of some kind at work; in rounds over shards where settings ask for slots."""
    # Rounds over shards are asked for by a setting, which most kinds do not have.
    in_rounds = getattr(settings, "slots", None) is not None
    made: Any = loaded("atomstream.runs.tasks.shards:ShardsTask") if in_rounds else kind
    return made(settings)


@contextmanager
def callbacks_set(model: Any, *callbacks: Callback) -> Iterator[None]:
    """Let a model call these after each batch, while it learns in the body."""
    model.set_callbacks(*callbacks)
    try:
        yield
    finally:
        model.set_callbacks()


def pace_set(model: Any, pace: Pace) -> AbstractContextManager[None]:
    """Show progress, note objectives and pause when due, while a model learns batch by batch."""

    def note(learner: Learner) -> bool:
        """Note a batch, and return whether a pause is due."""
        pace.note(learner)
        return pace.due()

    return callbacks_set(model, pace.bar("learning"), AfterBatch(note))


class AfterBatch(Callback):
    """Calls a function with the learner after each batch; learning stops where it returns true."""

    def __init__(self, function: Callable[[Learner], bool | None]) -> None:
        self._function = function

    def on_batch_end(self, estimator: Learner) -> bool | None:
        """Call the function."""
        return self._function(estimator)


@contextmanager
def forward_warnings(warning: Callable[[str], None]) -> Iterator[None]:
    """Hand every warning of the body to a function, once each."""
    with warnings.catch_warnings():
        # Once each by place: the hundredth batch with the same trouble adds nothing.
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: warning(str(message))
        yield


def as_input_error(what: Any, make: Callable[[], Any]) -> Any:
    """Return what is made, turning a bad setting or an unreadable file into a sentence."""
    try:
        return make()
    except OSError as error:
        # The words of the system, without its number and without the path, which the sentence has.
        raise InputError(f"{what} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def read_checkpoint(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a file and its notes, each of the kind that runs write.

    Raises
    ------
    ModelFileError
        For a file that is not a model file, and for notes of another kind; the message names one.
    """
    model, notes = read_model(path)
    # A name that is not known is let pass: later releases may keep more.
    for name, value in notes.items():
        try:
            if (known := note_of(name)) is not None:
                known.check(value, {}, "the notes")
        except ValueError as error:
            raise CorruptModelError(f"{path} has a note that makes no sense: {error}.") from None
    return model, notes


@contextmanager
def making_sense(path: Path) -> Iterator[None]:
    """Turn an error in the body into a sentence: parts of the file at ``path`` contradict others.

    Every part was checked by itself; what only shows where two are used together ends here.
    """
    try:
        yield
    except (InputError, ModelFileError, IncompatiblePartsError):
        raise
    except SENSELESS as error:
        raise CorruptModelError(f"{path} holds parts that do not fit: {error!r:.200}.") from error


def _figures(value: Any, sizes: dict[str, int]) -> bool:
    """Return whether a value is a dict of texts and numbers, none of them NaN."""
    known = number("figure", at_least=-np.inf)
    return isinstance(value, dict) and all(
        isinstance(name, str) and known.fits(item, sizes) for name, item in value.items()
    )


def note_of(name: str) -> Field | None:
    """Return what a note of this name must be; None where it is not known."""
    given = find("notes", name)
    return NOTES.get(name) or (None if given is None else of_table(name, given))


COUNTS = ("n_missing", "n_entries", "n_looked_at", "n_rounds", "n_skipped")
TEXTS = (
    *("warnings", "settings", "skipped_shards", "skip_reasons", "labels"),
    *("sample_labels", "sample_texts"),
)
# Those of runs on rows, and those that several fields share; others are declared by their fields.
NOTES = {
    field.name: field
    for field in (
        *map(count, COUNTS),
        *map(texts, TEXTS),
        *(Field(name, "numbers by their names", _figures) for name in ("rounds", "figures")),
        *(part("run", str), part("history", dict), part("holdout", dict)),
        *(number("seconds", at_least=0, finite=True), number("horizon", at_least=0)),
        *(one_of("finished", (True, False)), texts("names", optional=True)),
        each(count("position"), at_least=1, at_most=6),
        each(count("shape", 1, optional=True), at_least=1, at_most=16),
        array("deviation", "n", at_least=0, optional=True),
        *(array("sample_codes", "n k"), array("sample_values", "...")),
    )
}
