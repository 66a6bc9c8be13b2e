from .base import Entrywise, Loss
from .divergences import Alpha, Beta, Hellinger, ItakuraSaito, KullbackLeibler
from .robust import L1, L2, Huber, Trimmed, robust_scales
from .squared import Mahalanobis, Squared, squared_norms

__all__ = [
    "L1",
    "L2",
    "Alpha",
    "Beta",
    "Entrywise",
    "Hellinger",
    "Huber",
    "ItakuraSaito",
    "KullbackLeibler",
    "Loss",
    "Mahalanobis",
    "Squared",
    "Trimmed",
    "robust_scales",
    "squared_norms",
]
