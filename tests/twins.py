"""Plain twins of compiled loops: what a kernel computes, as the formulas say it."""

import numpy as np

from atomstream._kernels.divergence import LONG_FALL, MAX_STEPS, MIN_FITTED


def plain_advance(W, moves, steps, numbers, total):
    """Make a Hebbian step per transition on all of W; ``total`` becomes the sum of all W."""
    m = len(W) // 2
    for i, j, weight, mass in zip(*moves, strict=True):
        a, b, t = W[i].copy(), W[m + j].copy(), numbers[0]
        size = float(a @ a + b @ b)
        # The plain mean at first, one that forgets after a thousand transitions later.
        numbers[1] += (size - numbers[1]) / min(t + 1, 1000)
        step = steps.gain
        if steps.horizon > 0:
            since = t * numbers[1] / (W.shape[1] * steps.horizon)
            step = (
                min(steps.gain / max(numbers[1], 1e-300), steps.longest)
                / (1 + since) ** steps.power
            )
        # At most half of one over the size of the transition, or W would overshoot.
        step = min(step * weight, 0.5 / max(size, 1e-300))
        # Both factors of every product are rows before this transition: a and b are copies.
        change = np.outer(W @ a, b) + np.outer(W @ b, a)
        W -= step * change
        # Only two rows gain (the Hebbian term); what all rows lose keeps W near orthonormal.
        W[i] += step * b
        W[m + j] += step * a
        importance = (t + 1) ** steps.recency
        total += importance * W
        numbers[2] += importance
        numbers[3] += importance * mass
        numbers[0] += 1


def plain_sweep(codes, stored, atoms, totals, still, fitted):
    """Minimise the divergence of each row over each entry of its code in turn, in place."""
    indptr, indices, values = stored
    first = indptr[0]
    for i, code in enumerate(codes):
        sums = totals[i % len(totals)]
        places = slice(indptr[i], indptr[i + 1])
        x, there = values[places], atoms[:, indices[places]]
        y = np.maximum(code @ there, MIN_FITTED)
        for k in np.flatnonzero(~still[i % len(still)] & (sums > 0)):
            for _ in range(MAX_STEPS):
                share = there[k] / y
                pull, curvature = x @ share, x @ share**2
                # Without curvature no entry of the row has this atom: its sum counts, and 0 is
                # best.
                goal = 0.0
                if curvature > 0:
                    step = (pull - sums[k]) / curvature * (pull / sums[k])
                    goal = max(code[k] + step, 0.0)
                move = goal - code[k]
                code[k] = goal
                # Updated, not formed anew: a step costs one pass over the stored entries.
                y = np.maximum(y + move * there[k], MIN_FITTED)
                if -move <= LONG_FALL * (goal - move):
                    break
        fitted[indptr[i] - first : indptr[i + 1] - first] = y
