"""The Ising model on a square lattice, sampled by heat bath."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import MAX_NUMBER, ArrayLike, complete_array
from atomstream.base.parameters import Part, number, one_of
from atomstream.samplers.base import Chain

MAX_SIDE = 2**31  # sites along a side


@dataclass(frozen=True)
class IsingGibbs(Part, Chain[int]):
    r"""Gibbs sampling of spins 1 and -1 on a lattice.

    .. math:: \pi(x) \propto \exp(\tfrac1T (\sum_{u \sim v} x_u x_v + h \sum_v x_v))

    A site becomes 1 with probability :math:`1 / (1 + \exp(-\tfrac2T (\sum_{u \sim v} x_u + h)))`,
    whatever it was. The chain is reversible site by site; a sweep in checkerboard order leaves the
    same law invariant.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns; at least 3 each on the torus, where two would be neighbours twice.
    temperature : float
        T, above 0. Without a field the lattice orders below 2.269.
    field : float, default=0.0
        h.
    boundary : {"free", "torus"}, default="free"
    sweep : {"random", "checkerboard"}, default="random"
        What a step is: one site drawn at random, or every site once, black ones first.

    Raises
    ------
    ValueError
        For settings out of range.

    References
    ----------
    Lyu, Needell, Balzano, eqs. (37) to (40); the printed update, after (40), has the opposite sign.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.samplers import IsingGibbs
    >>> chain = IsingGibbs((20, 20), temperature=5.0, sweep="checkerboard")
    >>> rng = np.random.default_rng(0)
    >>> frames, state = chain.run(rng, chain.init(rng), 100)
    >>> frames.shape
    (100, 20, 20)
    """

    shape: tuple[int, int]
    temperature: float
    field: float = 0.0
    boundary: str = "free"
    sweep: str = "random"

    BOUNDS: ClassVar = {
        "temperature": number(above=True),
        "field": number(-MAX_NUMBER),
        "boundary": one_of("free", "torus"),
        "sweep": one_of("random", "checkerboard"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        # On a torus with a side of two a neighbour would count twice.
        least = 3 if self.boundary == "torus" else 1
        good = [isinstance(side, Integral) and least <= side <= MAX_SIDE for side in self.shape]
        if good != [True, True]:
            raise ValueError(
                f"IsingGibbs needs a shape of two sides of at least {least}, got {self.shape!r}."
            )

    def init(self, rng: np.random.Generator, position: ArrayLike | None = None) -> NDArray:
        """Return spins, int8: random ones (hot), or a copy of those given.

        Parameters
        ----------
        rng : numpy.random.Generator
        position : array-like of shape ``shape``, optional
            Of 1 and -1; all 1 is the cold start.
        """
        if position is None:
            return rng.choice(np.array([-1, 1], np.int8), self.shape)
        spins = complete_array(position, "position")
        if spins.shape != tuple(self.shape) or not np.isin(spins, (-1, 1)).all():
            raise ValueError(
                f"position must be an array of 1 and -1 of shape {self.shape}, "
                f"got shape {spins.shape}."
            )
        return spins.astype(np.int8)

    def step(self, rng: np.random.Generator, state: NDArray) -> tuple[NDArray, int]:
        """Return the spins after one step, and how many changed."""
        after = self._advance(rng, state.copy(), 1)
        return after, int((after != state).sum())

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` configurations, ``thin`` steps apart, int8 (n, rows, columns), and the last.

        One configuration per n sites of the paper is ``thin`` = rows * columns of random sites.
        """
        state, found = state.copy(), np.empty((n, *self.shape), np.int8)
        for sample in found:
            sample[:] = self._advance(rng, state, thin)
        return found, state

    def probability(self, state: NDArray) -> NDArray:
        """Return for every site the probability that an update makes it 1."""
        mode: Any = "wrap" if self.boundary == "torus" else "constant"
        padded = np.pad(state.astype(np.int64), 1, mode=mode)
        # Beyond a free boundary lie zeros, which pull neither way.
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return self._table()[around + 4]

    def energy(self, states: NDArray) -> NDArray:
        """Return the energy of each configuration: minus neighbours' products and field."""
        x = complete_array(states, "states", np.float64)
        down, right = x[..., 1:, :] * x[..., :-1, :], x[..., :, 1:] * x[..., :, :-1]
        total = down.sum((-2, -1)) + right.sum((-2, -1)) + self.field * x.sum((-2, -1))
        if self.boundary == "torus":  # the edges meet: rows first, then columns
            total = total + (x[..., 0, :] * x[..., -1, :]).sum(-1)
            total = total + (x[..., :, 0] * x[..., :, -1]).sum(-1)
        return -total

    def _table(self) -> NDArray:
        """Return the probability of 1 by the sum of the neighbours, from -4 to 4."""
        with np.errstate(over="ignore"):
            # Of a spin up, by the sum of its neighbours from -4 to 4; at low temperatures the
            # exponential overflows to a probability of 0.
            return 1 / (1 + np.exp(-2 / self.temperature * (np.arange(-4, 5) + self.field)))

    def _advance(self, rng: np.random.Generator, state: NDArray, n: int) -> NDArray:
        from atomstream.fields.networks.chains.kernel_ising import checkerboard, random_sites
        from atomstream.fields.networks.chains.kernel_uniform import source_of

        update = random_sites if self.sweep == "random" else checkerboard
        update(source_of(rng), state, self._table(), n, self.boundary == "torus")
        return state
