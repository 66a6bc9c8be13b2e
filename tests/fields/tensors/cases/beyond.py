"""Settings of models of tensors that need a number."""

from atomstream import updates

CASES = {"radius": lambda value: updates.LoadingSweep(radius=value)}
