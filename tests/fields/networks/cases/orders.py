"""The atoms of networks in an order."""

from drawn import of

from atomstream import plots

CASES = {"network_atoms": (lambda: of("networks"), plots.network_atoms, None)}
