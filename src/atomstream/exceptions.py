"""Exceptions and warnings of the library, besides ValueError and TypeError."""

__all__ = [
    "CorruptModelError",
    "IncompatiblePartsError",
    "InputError",
    "MissingLibraryError",
    "ModelFileError",
    "NetworkWarning",
    "NewerFormatError",
    "NotAModelError",
    "ScheduleWarning",
]


class IncompatiblePartsError(TypeError):
    """One part of a method needs something that another part does not offer."""


class NetworkWarning(UserWarning):
    """Warning: a network was read, or is learned, in a way that may not be the one meant.

    The message says what to give to have the one way or the other.
    """


class ScheduleWarning(UserWarning):
    """Warning: a schedule breaks a condition of the convergence theorems.

    Where the stream drifts this is intended; ``warnings.simplefilter("ignore", ScheduleWarning)``
    silences it.
    """


class InputError(ValueError):
    """An input cannot be read; the message names the input and says why."""


class MissingLibraryError(InputError, ImportError):
    """An optional library is not installed; the message says how to install it."""


class ModelFileError(ValueError):
    """A file cannot be read as a saved model; the subclasses say why."""


class NotAModelError(ModelFileError):
    """The file is not a saved model, but for example a pickle, an archive or a text."""


class NewerFormatError(ModelFileError):
    """The file was written by a later release, in a format that this one does not know."""


class CorruptModelError(ModelFileError):
    """The file is a saved model that is damaged, cut off, or inconsistent."""
