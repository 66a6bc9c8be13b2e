"""Codes under divergences: multiplicative updates to learn, Newton steps to the last digits."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import over_rows
from atomstream.base.parameters import whole
from atomstream.coders.base import Coder, Codes
from atomstream.coders.newton import polish
from atomstream.coders.starting import least_squares, starting_codes
from atomstream.coders.vertex import has_vertices, to_vertices
from atomstream.dictionaries.base import Dictionary
from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem import Accuracy, Batch, Needs, Objective
from atomstream.problem.products import DenseProducts, on_possible_features, products

# Of the sum of a row. Codes that fall in call after call would become subnormal numbers, with which
# many processors compute many times as long.
NOTHING = 1e-25
ROUGH = (5, 3, 1e-2)  # rounds, Newton steps and gap of codes under robust losses, while learning


@dataclass(frozen=True)
class Multiplicative(Coder):
    r"""Codes under any loss with a power majoriser, by minimising that majoriser again and again.

    Starts from least squares, weighted by features, which multiplicative updates would take
    thousands of rounds to reach where atoms are alike. Every round goes downhill
    (`atomstream.losses.majorisers`). While learning a row is left when a round moves less than a
    tenth of the accuracy's violation of it; exact codes are finished by Newton steps, each a
    quadratic program solved by `ActiveSet`'s kernel. Under robust losses least squares are no good
    start, and few rounds of updates leave codes close to it: a few Newton steps take the place of
    most of them while learning too. Exact codes under l1 are vertices of a linear program, found by
    moving from one to the next.

    Parameters
    ----------
    max_rounds : int, default=20
        Rounds that a row may take before it is left, or handed to the Newton steps.
    max_newton : int, default=300
        Newton steps that a row may take.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    max_rounds: int = 20
    max_newton: int = 300
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True
    # The majoriser of rough codes is one for atoms that are not negative.
    needs: ClassVar[Needs] = {
        "loss": ("exponents",),
        "codes": ("polyhedral", "nonnegative"),
        "atoms": ("nonnegative",),
    }
    BOUNDS: ClassVar = {"max_rounds": whole(), "max_newton": whole()}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those after the last round, searched from ``start``.

        The residual is what the last Newton step promised to gain, as a share of the objective;
        infinite where the accuracy asked for none.
        """
        # Rounds alone converge slowly: for exact codes they only bring Newton steps near.
        exact, robust, penalty = accuracy.violation == 0, objective.loss.robust, objective.codes
        most_rounds, most_newton, gap = self.max_rounds, self.max_newton, accuracy.gap
        vertices = exact and objective.loss.piecewise_linear and has_vertices(penalty)
        if (robust and not exact) or vertices:
            most_rounds, most_newton, gap = ROUGH
        precise = exact or robust
        # Newton steps ask for gains that float32 does not resolve.
        atoms = dictionary.atoms().astype(np.float64 if precise else batch.X.dtype, copy=False)
        codes = np.empty((batch.X.shape[0], len(atoms)), batch.X.dtype)
        residual = np.full(len(codes), np.inf)
        batch, atoms = on_possible_features(batch, atoms, objective.loss)
        projector = least_squares(atoms, objective.loss)
        blocks = products(batch, atoms, objective.loss)

        def code(rows: slice) -> None:
            """Write the codes of a block of rows."""
            block = blocks(rows)
            if start is None:
                found = starting_codes(block, projector)
            else:
                found = start[rows].astype(atoms.dtype)
            # Rounds begin inside the set and off zero, where a multiplicative step would stay.
            found = _inside(found, penalty)
            found = block.multiplicative_rounds(
                found, penalty, most_rounds, 1e-3 if exact else 0.1 * accuracy.violation
            )
            least = NOTHING * found.sum(axis=1, keepdims=True)
            np.copyto(found, least, where=(found > 0) & (found < least))
            if precise:
                found, residual[rows] = polish(block, found, penalty, gap, most_newton)
            # As all are under such a loss. The kernel of vertices knows no weights of entries.
            if vertices and isinstance(block, DenseProducts) and not batch.has_entry_weights:
                found, certified = to_vertices(block, found, penalty)
                residual[rows][certified] = 0
            codes[rows] = found

        # Newton steps, and rounds over stored entries, leave the interpreter's lock to others; the
        # many small steps of dense rounds do not.
        alone = not precise and not sp.issparse(batch.X)
        over_rows(code, len(codes), 0 if alone else len(atoms) * (batch.X.size // len(codes)))
        return Codes(codes, residual)


def _inside(codes: NDArray, penalty: Penalty) -> NDArray:
    """Return codes inside their set, none of their entries pushed to zero."""
    _, _, low, high, _, total = kernel_form(penalty)
    if not total:
        return np.clip(codes, low, high)
    sums = codes.sum(axis=1, keepdims=True)
    # A row of zeros has no direction towards the simplex: it gets equal shares.
    even = np.full_like(codes, total / codes.shape[1])
    return np.divide(codes * codes.dtype.type(total), sums, out=even, where=sums > 0)
