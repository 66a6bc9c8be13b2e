"""Settings of chains that need a number."""

from atomstream.samplers import IsingGibbs

CASES = {"shape": lambda value: IsingGibbs((3, value), 1.0)}
