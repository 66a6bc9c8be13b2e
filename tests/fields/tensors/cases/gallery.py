"""The plot of tensors."""

from drawn import of

from atomstream import plots

CASES = {"loadings": lambda: plots.loadings(of("tensors"))}
