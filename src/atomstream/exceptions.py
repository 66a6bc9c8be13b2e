"""What the library raises and warns of besides ValueError and TypeError."""

__all__ = [
    "CorruptModelError",
    "IncompatiblePartsError",
    "InputError",
    "ModelFileError",
    "NewerFormatError",
    "NotAModelError",
    "NotConvergedWarning",
]


class IncompatiblePartsError(TypeError):
    """Parts of a method were combined of which one needs what another does not offer."""


class NotConvergedWarning(UserWarning):
    """An iteration ended before it reached the accuracy that was asked for."""


class InputError(ValueError):
    """An input cannot be read as rows of numbers; the sentence names the input and says why."""


class ModelFileError(ValueError):
    """A file could not be read as a saved model; the kinds below say why."""


class NotAModelError(ModelFileError):
    """The file is something else: a pickle, an archive, a text."""


class NewerFormatError(ModelFileError):
    """The file was written by a later release in a format this one does not know."""


class CorruptModelError(ModelFileError):
    """The file began as a saved model and is damaged, cut off, or claims what cannot be."""
