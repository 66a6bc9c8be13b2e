"""Experiments 002-6 and 002-7: the limit theorems of the Hebbian steps, on the 12-state chain.

Yang, Braverman, Zhao and Wang, Theorems 1 to 3; fixed steps eta, time t = eta times the number of
transitions, r = 3, transitions drawn independently from the joint distribution F.

Theorem 1: gamma~_i, the length of the i-th row of E' W (the first r rows of E' W)^-1 in the
eigenbasis E of the dilation of F, falls at least as fast as exp((sigma_i - sigma_r) t) as eta goes
to 0. The flow that is the limit has a closed form: entry (i, j) falls like exp((sigma_i - sigma_j)
t). The sum of squares over i > r, which bounds the squared sine, is compared with both, for twenty
random starts and three steps, as long as the limit is above thirty times the plateau that Theorem 2
leaves.

Theorem 2: after that W fluctuates as an Ornstein-Uhlenbeck process. With the variance G_ij^2 of
e_i' A e_j over transitions, entry (i, j) has the stationary variance eta G_ij^2 / (2 (sigma_j -
sigma_i)), whose sum over i > r, j <= r is the mean squared sine (the paper says O(eta r / gap)). It
is computed exactly and compared with runs that start at the truth, for r = 1, 2, 3, three steps,
and chains mixed with independent draws, whose gap is smaller; and for a walk instead of independent
transitions.

Theorem 3: squared distances of rows of M^ = diag(mu^)^-1 V^ are said to be within C epsilon /
mu_min^2 of the true ones. Walks of 10^3 to 10^6 steps: batch singular vectors of the counts,
epsilon the least that fulfils (17).

Leaves ``results/002-6.png`` and ``results/002-6.json``.
"""

from __future__ import annotations

import numpy as np
from exp_002_1_chain import META, chain, exact, walk
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from sklearn.cluster import KMeans

from atomstream.fields.walks.update import HebbianFactor, Moves, Steps
from atomstream.watch.diagnostics import stationary_law

M, RANK, N_STARTS = 12, 3, 20
STEPS = (0.02, 0.005, 0.00125)
LAST = 300.0  # time
MIXED = (0.0, 0.25, 0.5)
LENGTHS = tuple(int(n) for n in np.geomspace(1e3, 1e6, 7))


def eigenbasis(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (eigenvectors, eigenvalues) of the dilation of F, largest first."""
    left, values, right = np.linalg.svd(F)
    both = [np.concatenate([left, sign * right.T]) / np.sqrt(2) for sign in (1, -1)]
    eigenvalues = np.concatenate([values, -values])
    order = np.argsort(-eigenvalues, kind="stable")
    return np.hstack(both)[:, order], eigenvalues[order]


def joint(mixed: float = 0.0) -> np.ndarray:
    """Return F of the chain, of which a share of the transitions goes to any state."""
    P = chain()
    mu = stationary_law(P)
    return mu[:, None] * ((1 - mixed) * P + mixed * mu)


def drawn(F: np.ndarray, n: int, seed: int) -> Moves:
    """Return independent transitions."""
    cells = np.random.default_rng(seed).choice(F.size, n, p=F.ravel())
    return Moves(*np.divmod(cells, M), np.ones(n), np.ones(n))


def run(start: np.ndarray, moves: Moves, eta: float, looks: np.ndarray) -> np.ndarray:
    """Return W after each number of transitions, (n_looks, 2 m, r)."""
    factor, done, found = HebbianFactor(start), 0, []
    for look in looks:
        factor.advance(moves.part(slice(done, int(look))), Steps(eta, 0, 0, 0, 2))
        done = int(look)
        found.append(factor.iterate())
    return np.array(found)


def variance(F: np.ndarray, rank: int) -> float:
    """Return the mean squared sine over eta of the stationary Ornstein-Uhlenbeck process."""
    E, values = eigenbasis(F)
    top, bottom = E[:M], E[M:]
    # e_i' A e_j of the transition from a to b, and the mean of its square under F.
    first = np.einsum("ai,bj->abij", top, bottom)
    entries = (first + np.swapaxes(first, 2, 3))[..., rank:, :rank]
    spread = np.einsum("ab,abij->ij", F, entries**2)
    return float((spread / (2 * (values[None, :rank] - values[rank:, None]))).sum())


def ode() -> dict:
    """Return squares of gamma~ beside their limit and its bound, medians over the starts."""
    F = joint()
    E, values = eigenbasis(F)
    told: dict = {}
    for eta in STEPS:
        looks = np.linspace(0, LAST / eta, 41).astype(int)
        time = eta * looks[:, None, None]
        squares, limits, bounds = [], [], []
        for seed in range(N_STARTS):
            start = np.linalg.qr(np.random.default_rng(seed).standard_normal((2 * M, RANK)))[0]
            turned = E.T @ run(start, drawn(F, looks[-1], 100 + seed), eta, looks)
            rows = turned[:, RANK:] @ np.linalg.inv(turned[:, :RANK])
            fall = values[RANK:, None] - values[None, :RANK]
            squares.append((rows**2).sum(axis=2))
            limits.append(((rows[0] * np.exp(fall * time)) ** 2).sum(axis=2))
            bounds.append((rows[0] ** 2).sum(axis=1) * np.exp(2 * fall[:, -1] * time[:, 0]))
        found, limit, bound = (np.array(part) for part in (squares, limits, bounds))
        ratio = found.sum(axis=2) / limit.sum(axis=2)
        early = limit.sum(axis=2) > 30 * eta * variance(F, RANK)
        early[:, 0] = False
        plain = np.sort(ratio[early])
        told[f"{eta}"] = {
            "time": eta * looks,
            "sum of squares": np.median(found.sum(axis=2), axis=0),
            "limit": np.median(limit.sum(axis=2), axis=0),
            "bound": np.median(bound.sum(axis=2), axis=0),
            "plateau of Theorem 2": eta * variance(F, RANK),
            "over the limit, 10th, 50th, 90th percentile": np.quantile(plain, (0.1, 0.5, 0.9)),
            "share above the bound": float((found.sum(axis=2) > bound.sum(axis=2))[early].mean()),
        }
    return told


def fluctuation() -> list[dict]:
    """Return mean squared sines along long runs beside what the limit says."""
    rows = []
    cases = [(rank, 0.0, eta, "independent") for rank in (1, 2, 3) for eta in STEPS]
    cases += [(RANK, mixed, STEPS[0], "independent") for mixed in MIXED[1:]]
    cases += [(RANK, 0.0, eta, "walk") for eta in STEPS[:2]]
    for rank, mixed, eta, source in cases:
        F = joint(mixed)
        E, values = eigenbasis(F)
        gap = float(values[rank - 1] - values[rank])
        n = int(min(400 / (eta * gap), 3_000_000))
        looks = np.arange(0, n, max(int(0.5 / (eta * gap)), 1))[1:]
        moves = drawn(F, n, 1)
        if source == "walk":
            states = walk(chain(), n, 1)
            moves = Moves(states[:-1], states[1:], np.ones(n), np.ones(n))
        found = np.linalg.qr(run(E[:, :rank], moves, eta, looks))[0][len(looks) // 20 :]
        sines = rank - np.sum((E[:, :rank].T @ found) ** 2, axis=(1, 2))
        limit = eta * variance(F, rank)
        rows.append(
            {"r": rank, "transitions": source, "mixed": mixed, "eta": eta, "gap": gap}
            | {"mean squared sine": float(sines.mean()), "limit": limit}
            | {"eta r / gap": eta * rank / gap}
        )
    return rows


def distances(points: np.ndarray) -> np.ndarray:
    """Return the distances of all pairs of rows."""
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def by_length(walks: list[dict]) -> dict:
    """Return medians over the walks of each length, and how the errors go with epsilon."""
    told, names = {}, ("epsilon", "C of squared distances", "C of distances")
    steps, exact_, *values = (
        np.array([one[key] for one in walks]) for key in ("steps", "exact", *names)
    )
    told["by length"] = [
        {
            "steps": n,
            **{
                name: float(np.median(value[steps == n]))
                for name, value in zip(names, values, strict=True)
            },
            "exact": int(exact_[steps == n].sum()),
        }
        for n in LENGTHS
    ]
    for name, C in zip(names[1:], values[1:], strict=True):
        power = np.polyfit(np.log(values[0]), np.log(C), 1)[0]
        told[f"power of epsilon in {name}"] = float(power)
    return told


def theorem_three() -> dict:
    """Return errors of distances against epsilon, and how often partitions are exact."""
    F = joint()
    mu = F.sum(axis=1)
    left, _, right = np.linalg.svd(F)
    true = distances(right[:RANK].T / mu[:, None])
    told: dict = {"walks": []}
    for n in LENGTHS:
        for seed in range(N_STARTS):
            states = walk(chain(), n, seed)
            counts = np.zeros((M, M))
            np.add.at(counts, (states[:-1], states[1:]), 1)
            U, _, Vt = np.linalg.svd(counts)
            share = np.bincount(states, minlength=M) / len(states)
            angles = [
                RANK - np.linalg.norm(one[:, :RANK].T @ other[:, :RANK]) ** 2
                for one, other in ((U, left), (Vt.T, right.T))
            ]
            epsilon = max(sum(angles), float(np.max(np.abs(share / mu - 1))) ** 2)
            points = Vt[:RANK].T / share[:, None]
            found, scale = distances(points), mu.min() ** 2 / epsilon
            labels = KMeans(RANK, n_init=5, random_state=0).fit(points, sample_weight=share).labels_
            told["walks"].append(
                {
                    "steps": n,
                    "epsilon": epsilon,
                    "C of squared distances": float(np.abs(found**2 - true**2).max() * scale),
                    "C of distances": float((np.abs(found - true) ** 2).max() * scale),
                    "exact": exact(labels),
                }
            )
    told |= by_length(told["walks"])
    apart = META[:, None] != META[None]
    told["least squared distance between blocks"] = float((true[apart] ** 2).min())
    told["least frequency"] = float(mu.min())
    return told


def main() -> None:
    """Measure, draw, write the numbers."""
    numbers: dict = {"Theorem 1": ode(), "Theorem 2": fluctuation(), "Theorem 3": theorem_three()}
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    for eta, one in numbers["Theorem 1"].items():
        (line,) = first.semilogy(one["time"], one["sum of squares"], label=f"eta = {eta}")
        first.axhline(one["plateau of Theorem 2"], color=line.get_color(), ls=":", lw=1)
    first.semilogy(one["time"], one["limit"], "k", lw=1, label="limit")
    first.semilogy(one["time"], one["bound"], "k--", lw=1, label="bound")
    first.set(xlabel="time: eta times transitions", title="Theorem 1: sum of squares of gamma~")
    first.legend(frameon=False, fontsize=8)
    for source, marker in (("independent", "o"), ("walk", "x")):
        rows = [row for row in numbers["Theorem 2"] if row["transitions"] == source]
        second.loglog(
            [row["limit"] for row in rows],
            [row["mean squared sine"] for row in rows],
            marker,
            label=f"{source} transitions",
        )
    ends = [5e-4, 0.2]
    second.loglog(ends, ends, "k--", lw=1)
    second.set(xlabel="variance of the limit", ylabel="measured", title="Theorem 2: squared sine")
    second.legend(frameon=False)
    walks = numbers["Theorem 3"]["walks"]
    for name in ("squared distances", "distances"):
        third.loglog(
            [one["epsilon"] for one in walks],
            [one[f"C of {name}"] for one in walks],
            ".",
            label=name,
        )
    third.axhline(96, color="k", ls="--", lw=1)
    third.set(xlabel="epsilon", ylabel="C that is needed", title="Theorem 3: is C a constant?")
    third.text(0.3, 60, "96", fontsize=8)
    third.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, 0.93))
    save_figure(figure, "002-6", 85)
    save("002-6", numbers)


if __name__ == "__main__":
    main()
