"""The loadings of tensors in an order."""

from drawn import of

from atomstream import plots

CASES = {"loadings": (lambda: of("tensors"), plots.loadings, None)}
