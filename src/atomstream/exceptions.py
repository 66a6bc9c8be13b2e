"""Exceptions and warnings of the library, besides ValueError and TypeError."""

import warnings

__all__ = [
    "AtomstreamWarning",
    "BadShardError",
    "ChangedShardError",
    "CorruptModelError",
    "DataWarning",
    "EngineError",
    "IncompatiblePartsError",
    "InputError",
    "MissingLibraryError",
    "ModelFileError",
    "NetworkWarning",
    "NewerFormatError",
    "NotAModelError",
    "RemovalWarning",
    "ScheduleWarning",
    "warn_of_removal",
]


class IncompatiblePartsError(TypeError):
    """One part of an algorithm needs something that another part does not offer."""


class AtomstreamWarning(UserWarning):
    """Warning of the library; its kinds say what it is about.

    ``warnings.simplefilter("ignore", AtomstreamWarning)`` silences them all.
    """


class DataWarning(AtomstreamWarning):
    """Warning: the data do not support in full what is asked of them.

    Their numbers are too small or too large for their type, too little of them was observed, or
    something simpler predicts them better.
    """


class NetworkWarning(AtomstreamWarning):
    """Warning: a network is read, sampled or learned in a way that may not be the one meant.

    The message says what to give to have the one way or the other.
    """


class ScheduleWarning(AtomstreamWarning):
    """Warning: a schedule breaks a condition of the convergence theorems.

    Where the stream drifts this is intended; ``warnings.simplefilter("ignore", ScheduleWarning)``
    silences it.
    """


class RemovalWarning(AtomstreamWarning, FutureWarning):
    """Warning: what was used goes in a later release; the message names it and what to use."""


def warn_of_removal(what: str, *, release: str, instead: str, stacklevel: int = 3) -> None:
    """Warn that something goes in a later release; call it where the old thing is used.

    Parameters
    ----------
    what : str
        What goes, as users write it.
    release : str
        The first release without it, "0.3".
    instead : str
        What to write instead.
    stacklevel : int, default=3
        As in `warnings.warn`; 3 is the caller of the function that calls this one.

    Warns
    -----
    RemovalWarning
    """
    message = f"{what} goes in atomstream {release}; use {instead}."
    warnings.warn(message, RemovalWarning, stacklevel=stacklevel)


class InputError(ValueError):
    """An input cannot be read; the message names the input and says why."""


class BadShardError(InputError):
    """A shard cannot be read or learned from.

    Parameters
    ----------
    shard : str
        Its name.
    reason : str
        What was wrong with it.
    """

    def __init__(self, shard: str, reason: str) -> None:
        super().__init__(shard, reason)
        self.shard, self.reason = shard, reason

    def __str__(self) -> str:
        return f"The shard {self.shard} cannot be learned from ({self.reason.rstrip('.'):.300})."


class ChangedShardError(InputError):
    """A shard is not what it was when the list of shards was made.

    Parameters
    ----------
    shard : str
        Its name.
    """

    def __init__(self, shard: str) -> None:
        super().__init__(shard)
        self.shard = shard

    def __str__(self) -> str:
        return (
            f"The shard {self.shard} has changed since the list of shards was made; bring the old "
            "content back, or make the list anew and begin another run."
        )


class EngineError(RuntimeError):
    """An engine lost its workers, was silent for too long, or has workers of other kinds."""


class MissingLibraryError(InputError, ImportError):
    """An optional library is not installed; the message says how to install it."""


class ModelFileError(ValueError):
    """A file cannot be read as a saved model; the subclasses say why."""


class NotAModelError(ModelFileError):
    """The file is not a saved model, but for example a pickle, an archive or a text."""


class NewerFormatError(ModelFileError):
    """The file is in another format than the one that this release reads."""


class CorruptModelError(ModelFileError):
    """The file is a saved model that is damaged, cut off, or inconsistent."""
