"""Hypothesis strategies and the lists of parts that tests run over."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from atomstream.coders import ActiveSet, ProjectedGradient
from atomstream.estimators import registry
from atomstream.losses import (
    L1,
    L2,
    Alpha,
    Beta,
    Hellinger,
    Huber,
    ItakuraSaito,
    KullbackLeibler,
    Mahalanobis,
    Squared,
    Trimmed,
)
from atomstream.penalties import Box, Free, Nonnegative, NonnegativeBall, Simplex, UnitBall
from atomstream.schedules import (
    Adaptive,
    Constant,
    HalfLife,
    Harmonic,
    LogPolynomial,
    Polynomial,
    Power,
)

LOSSES = [
    Squared(),
    Mahalanobis([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.4]]),
    KullbackLeibler(),
    ItakuraSaito(),
    *(Beta(beta) for beta in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)),
    *(Alpha(alpha) for alpha in (-1.0, 0.0, 0.5, 1.0, 2.0)),
    Hellinger(),
    Huber(0.7),
    L1(),
    L2(),
    Trimmed(0.7),
]
LOSS_NAMES = [*registry.LOSSES]
PENALTIES = [
    Free(),
    Free(l1=0.3),
    Free(l1=0.3, l2=0.5),
    Nonnegative(),
    Nonnegative(l1=0.3, l2=0.5),
    Box(),
    Box(low=0.25, high=0.75),
    Box(low=-0.5, high=1.0, l1=0.2, l2=0.4),
    Box(low=-2.0, high=-1.0),
    Box(low=0.25, high=np.inf),
    Box(low=-np.inf, high=0.5, l1=0.1),
    UnitBall(),
    UnitBall(l1=0.2, l2=0.3),
    NonnegativeBall(),
    NonnegativeBall(l1=0.2, l2=0.3),
    Simplex(),
    Simplex(total=2.0, l1=0.2, l2=0.3),
]
CODERS = [ActiveSet(), ProjectedGradient(), ProjectedGradient(momentum=False, max_iter=50_000)]
SCHEDULES = [
    Harmonic(),
    Power(1.0),
    Power(8.0),
    Polynomial(0.75),
    LogPolynomial(0.8),
    Constant(0.1),
    Constant(half_life=50),
    HalfLife(50),
    Adaptive(),
]
small = st.integers(-30, 30).map(lambda i: i / 10)


def matrix(n_rows, n_columns):
    return arrays(np.float64, (n_rows, n_columns), elements=small)


def positive(n=120, d=15, seed=0):
    """Positive data near rank four, with a little multiplicative noise."""
    rng = np.random.default_rng(seed)
    return (rng.exponential(size=(n, 4)) @ rng.random((4, d)) + 0.1) * rng.gamma(50, 1 / 50, (n, d))


@st.composite
def coding_problems(draw):
    """A few samples and a small dictionary, at times with zero atoms, twins, or many atoms."""
    n_components, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    atoms = draw(matrix(n_components, n_features))
    if n_components > 1 and draw(st.booleans()):
        atoms[1] = draw(st.sampled_from([0.0, 1.0, 1.001])) * atoms[0]
    return draw(matrix(3, n_features)), atoms
