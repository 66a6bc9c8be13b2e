"""The few errors and warnings of the library that are not Python's or scikit-learn's own."""


class IncompatiblePartsError(TypeError):
    """A coder or updater needs something that the loss or a set of the method does not offer."""


class NotConvergedWarning(UserWarning):
    """Some codes did not reach the tolerance that was asked for."""
