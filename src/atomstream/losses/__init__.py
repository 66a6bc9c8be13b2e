"""Losses of a reconstruction: one frozen class per divergence."""

from atomstream.losses.base import Entrywise, Loss
from atomstream.losses.divergences import Alpha, Beta, Hellinger, ItakuraSaito, KullbackLeibler
from atomstream.losses.robust import L1, L2, Huber, Trimmed, robust_scales
from atomstream.losses.squared import Mahalanobis, Squared, squared_norms

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
