"""Rows with outliers: the trimmed loss against methods with a term for outliers, on clean rows.

python benchmarks/outliers.py     # writes results/outliers-<generator>.json
python benchmarks/outliers.py --only ours    # leaves what is recorded of the others

X = HD + noise + S, S uniform between two signs of an amplitude on a share of the entries, then
clipped from below at 1e-8, the paper's recipe also from above at 4,000, days at 1,500. Measured is
the root mean squared error against HD of 300 rows that atoms were not learned from, and the median
over rows.

Methods that make no atoms (robust PCA, GoDec, robust NMF, alternating projections) are given these
rows, outliers and all, together with the others: they have seen them. GoDec is told the rank and
the share, robust NMF takes the best of three penalties, robust PCA of three and online robust PCA
of fifteen pairs, judged by the clean rows. Online robust PCA learns from the rows that ours learns
from, and codes the others by its own estimator. Atoms of batch Huber and the true ones get the same
codes as ours. Batch Huber goes on until 500 rounds lower its loss by less than 5e-4 of it, for
20,000 rounds at most.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import argparse
import time
from functools import partial
from itertools import islice

import numpy as np
from benchmark_records import BENCHMARKS, load, save

N_ROWS, N_UNSEEN, SHARES = 1_000, 300, (0.0, 0.05, 0.15, 0.30)
EPOCHS, WARM_UP_PASSES = 10, 50
STRETCH, MAX_ROUNDS, LITTLE = 500, 20_000, 5e-4  # of batch Huber
FLOOR, TINY = 1e-8, 1e-12


def paper(n, rng):
    """Return clean rows of Zhao, Tan and Xu (2017), the atoms, amplitude, clip and noise."""
    atoms = 1 + np.abs(rng.normal(0, 5, (40, 200)))
    return (1 + np.abs(rng.normal(0, 5, (n, 40)))) @ atoms, atoms, 2000.0, 4000.0, 1.0


def gamma(n, rng, noise=1.0):
    """Return rows of sparse gamma atoms with sparse codes, of mean 100."""
    atoms = rng.gamma(0.5, 1, (15, 150)) * (rng.random((15, 150)) < 0.6) + 1e-9
    clean = (rng.gamma(1.0, 1, (n, 15)) * (rng.random((n, 15)) < 0.6)) @ atoms
    return clean * (100 / clean.mean()), atoms, 2000.0, None, noise


def dense(n, rng):
    """Return the same with noise of a tenth of their standard deviation."""
    return gamma(n, rng, 9.0)


def bumps(n, rng):
    """Return spectra: atoms of two bumps each, of mean 50, with noise of 3."""
    grid, atoms = np.arange(120), np.zeros((12, 120))
    for atom in atoms:
        for _ in range(2):
            place, width = rng.uniform(0, 120), rng.uniform(3, 12)
            atom += rng.uniform(0.3, 1) * np.exp(-0.5 * ((grid - place) / width) ** 2)
    clean = (rng.exponential(1, (n, 12)) * (rng.random((n, 12)) < 0.5) + 0.02) @ atoms
    return clean * (50 / clean.mean()), atoms, 600.0, None, 3.0


def levels(n, rng):
    """Return profiles of few levels each, weights of sum one times a size, of mean 20."""
    atoms = np.zeros((10, 180))
    for atom in atoms:
        edges = np.sort(rng.choice(np.arange(1, 180), rng.integers(3, 7), replace=False))
        for part in np.split(np.arange(180), edges):
            atom[part] = rng.choice([0.05, 0.5, 1.0, 3.0])
    sizes = rng.lognormal(0, 0.6, (n, 1))
    clean = sizes * rng.dirichlet(np.full(10, 0.4), n) @ atoms
    return clean * (20 / clean.mean()), atoms, 200.0, None, 1.0


def days(n, rng):
    """Return smooth daily curves of quarter hours, dense and alike, of mean 200."""
    hours = np.arange(96) / 4
    peaks, narrow = rng.uniform(0, 24, (8, 1)), rng.uniform(1, 4, (8, 1))
    atoms = 0.2 + np.exp(narrow * (np.cos(2 * np.pi * (hours - peaks) / 24) - 1))
    clean = rng.gamma(2.0, 1, (n, 8)) @ atoms
    return clean * (200 / clean.mean()), atoms, 1500.0, 1500.0, 5.0


def decays(n, rng):
    """Return sums of rises and exponential decays on a constant, of mean 60, with noise of 2."""
    time, onsets = np.arange(110), rng.uniform(0, 90, (8, 1))
    since = np.maximum(time - onsets, 0)
    atoms = (1 - np.exp(-since / 2)) * np.exp(-since / rng.uniform(4, 30, (8, 1)))
    atoms = np.vstack([np.full(110, 0.3), atoms])
    clean = (rng.gamma(0.7, 1, (n, 9)) * (rng.random((n, 9)) < 0.7) + 0.01) @ atoms
    return clean * (60 / clean.mean()), atoms, 800.0, None, 2.0


GENERATORS = {
    "paper": paper,
    "gamma": gamma,
    "dense": dense,
    "bumps": bumps,
    "days": days,
    "levels": levels,  # the last two: nothing was chosen by them
    "decays": decays,
}


def robust_pca(X, share, rank):
    """Yield low ranks by principal component pursuit, at three weights of what is sparse."""
    from baselines import component_pursuit

    for factor in (0.5, 1.0, 2.0):
        yield component_pursuit(X, factor)


def projected(X, basis, outliers, low):
    """Return the next basis and low rank of rows whose outliers are filled in."""
    filled = np.where(outliers, low, X)
    basis, _ = np.linalg.qr(filled.T @ (filled @ basis))
    return basis, (filled @ basis) @ basis.T


def godec(X, share, rank):
    """Yield the low rank of GoDec (Zhou and Tao 2011), told the rank and the share."""
    basis, low = np.random.default_rng(0).standard_normal((X.shape[1], rank)), 0 * X
    outliers = np.zeros(X.shape, bool)
    for _ in range(300):
        basis, low = projected(X, basis, outliers, low)
        errors = np.abs(X - low)
        outliers = errors > np.quantile(errors, 1 - share) if share else outliers
    yield low


def alternating(X, share, rank):
    """Yield the low rank of alternating projections at three deviations, its rank in stages."""
    low, n_steps = np.zeros_like(X), 10
    for stage in range(1, rank + 1):
        basis = np.random.default_rng(stage).standard_normal((X.shape[1], stage))
        for _ in range(n_steps if stage < rank else 100):
            errors = np.abs(X - low)
            outliers = errors > 3 * 1.4826 * np.median(errors)
            basis, low = projected(X, basis, outliers, low)
    yield low


def robust_nmf(X, share, rank):
    """Yield the products of Fevotte and Dobigeon's (2015) updates, each entry an outlier or not.

    Theirs penalise lengths of whole rows; outliers are nonnegative in their model.
    """
    for weight in (10.0, 50.0, 200.0):
        rng = np.random.default_rng(0)
        codes, atoms = rng.random((len(X), rank)) + 0.1, rng.random((rank, X.shape[1])) + 0.1
        codes *= X.mean() / (codes @ atoms).mean()
        wrong = np.full(X.shape, X.mean())
        for _ in range(500):
            fit = codes @ atoms + wrong
            wrong *= X / (fit + weight)
            fit = codes @ atoms + wrong
            codes *= (X @ atoms.T) / (fit @ atoms.T + TINY)
            fit = codes @ atoms + wrong
            atoms *= (codes.T @ X) / (codes.T @ fit + TINY)
        yield codes @ atoms


def basis_codes(X, basis, penalties, codes, n_steps=100):
    """Return codes and outliers of rows by turns, as Feng, Xu and Yan find those of a row."""
    ridge, limit = penalties
    solver = np.linalg.solve(basis @ basis.T + ridge * np.eye(len(basis)), basis)
    for _ in range(n_steps):
        errors, old = X - codes @ basis, codes
        outliers = errors - np.clip(errors, -limit, limit)
        codes = (X - outliers) @ solver.T
        if np.linalg.norm(codes - old) <= 1e-4 * np.linalg.norm(codes):
            break
    return codes, outliers


def online_basis(X, basis, penalties):
    """Return the basis that passes of stochastic optimisation lead to."""
    rng, codes = np.random.default_rng(0), np.zeros((len(X), len(basis)))
    gram, cross, seen = np.zeros((len(basis), len(basis))), np.zeros_like(basis), 0
    for _ in range(EPOCHS + WARM_UP_PASSES):
        order = rng.permutation(len(X))
        for cut in np.split(order, range(64, len(X), 64)):
            codes[cut], outliers = basis_codes(X[cut], basis, penalties, codes[cut])
            seen += len(cut)
            weight = len(cut) / min(seen, len(X))  # one pass in theirs: of many, what is old fades
            gram += weight * (codes[cut].T @ codes[cut] / len(cut) - gram)
            cross += weight * (codes[cut].T @ (X[cut] - outliers) / len(cut) - cross)
            ridge = penalties[0] / len(X)
            for k in range(len(basis)):
                move = cross[k] - gram[k] @ basis - ridge * basis[k]
                basis[k] += move / (gram[k, k] + ridge)
    return basis


def online_robust_pca(X, share, rank):
    """Yield low ranks of online robust PCA (Feng, Xu and Yan 2013), for each pair of penalties.

    It learns from the rows that ours learns from, in as many passes, in batches in place of single
    rows, and codes all rows by its own estimator.
    """
    size = np.abs(X).mean()
    for ridge in (1e-3, 1e-2, 1e-1):
        for limit in (3e-3, 1e-2, 3e-2, 1e-1, 3e-1):
            penalties = ridge * size, limit * size
            basis = np.random.default_rng(1).standard_normal((rank, X.shape[1]))
            basis = online_basis(X[:N_ROWS], basis, penalties)
            nothing = np.zeros((len(X), rank))
            yield basis_codes(X, basis, penalties, nothing, 1000)[0] @ basis


RIVALS = {
    "robust PCA": robust_pca,
    "online robust PCA": online_robust_pca,
    "GoDec": godec,
    "robust NMF": robust_nmf,
    "alternating projections": alternating,
}
OLDER = (*RIVALS, "batch Huber")  # in records that name one commit for them


def huber_atoms(X, rank, delta):
    """Return atoms of batch updates under Huber's loss at their end, and the rounds they took."""
    from baselines import huber_weights, weighted_mu_steps

    from atomstream.losses import Huber

    steps, last, n_rounds = weighted_mu_steps(X, rank, huber_weights(delta)), np.inf, 0
    while n_rounds < MAX_ROUNDS:
        *_, (codes, atoms) = islice(steps, STRETCH)
        n_rounds += STRETCH
        now = float(Huber(delta).entries(X, codes @ atoms).sum())
        if last - now < LITTLE * now:
            break
        last = now
    return np.ascontiguousarray(atoms), n_rounds


def errors(found, clean):
    """Return the root mean squared error, and the median over rows."""
    rows = np.sqrt(((found - clean) ** 2).mean(axis=1))
    return {"rmse": float(np.sqrt((rows**2).mean())), "median": float(np.median(rows))}


def contaminated(make, share, seed):
    """Return clean rows, the same with dense noise, with outliers too, and the true atoms."""
    rng = np.random.default_rng(seed)
    clean, atoms, amplitude, cap, noise = make(N_ROWS + N_UNSEEN, rng)
    plain = clean + rng.normal(0, noise, clean.shape)
    wrong = rng.random(clean.shape) < share
    X = np.clip(plain + wrong * rng.uniform(-amplitude, amplitude, clean.shape), FLOOR, cap)
    return clean, np.clip(plain, FLOOR, cap), X, atoms


def learned(rows, loss, epochs, rank):
    """Return a model that has learned from the first rows."""
    from atomstream import OnlineNMF

    return OnlineNMF(rank, loss=loss, n_epochs=epochs, random_state=0).fit(rows[:N_ROWS])


def coded(X, atoms):
    """Return the low rank of the last rows by the codes of ours for these atoms."""
    from atomstream import OnlineNMF

    return OnlineNMF.from_components(atoms, loss="trimmed").clean(X[N_ROWS:])


def contenders(make, share, seed):
    """Return the clean rows, and for each contender how it finds them and what else it notes."""
    clean, plain, X, atoms = contaminated(make, share, seed)
    rank, truth, mean = len(atoms), clean[N_ROWS:], clean.mean(axis=0)
    passes = EPOCHS + WARM_UP_PASSES

    def huber():
        found, n_rounds = huber_atoms(X[:N_ROWS], rank, 0.7 * clean.std())
        return coded(X, found), {"rounds": n_rounds}

    def best(rival):
        tried = [low[N_ROWS:] for low in rival(X, share, rank)]
        return min(tried, key=lambda low: errors(low, truth)["rmse"]), {}

    own = {
        "ours": lambda: (learned(X, "trimmed", EPOCHS, rank).clean(X[N_ROWS:]), {}),
        "squared, clean rows": lambda: (
            learned(plain, "squared", passes, rank).clean(plain[N_ROWS:]),
            {},
        ),
        "squared": lambda: (learned(X, "squared", passes, rank).clean(X[N_ROWS:]), {}),
        "one atom": lambda: (np.outer(truth @ mean / (mean @ mean), mean), {}),
        "true atoms": lambda: (coded(X, atoms), {}),
        "batch Huber": huber,
    }
    return truth, own | {name: partial(best, rival) for name, rival in RIVALS.items()}


def study(make, share, seed, known, wanted):
    """Return the errors of all contenders; those that are known are run where they are wanted."""
    truth, runs = contenders(make, share, seed)
    found = dict(known)
    for name, run in runs.items():
        if name in known and name not in wanted:
            continue
        began = time.process_time()
        low, notes = run()
        spent = {"processor_seconds": time.process_time() - began}
        found[name] = errors(low, truth) | spent | notes
        print(name, {key: round(value, 2) for key, value in found[name].items()}, flush=True)
    return found


def recorded(name):
    """Return the shares that are recorded, each entry with the commit that it is of."""
    if not (BENCHMARKS.folder / f"outliers-{name}.json").exists():
        return {}
    old = load(f"outliers-{name}")
    older = old["results"].get("rivals of commit", old["commit"])
    for found in old["results"]["shares"].values():
        for contender, entry in found.items():
            entry.setdefault("commit", older if contender in OLDER else old["commit"])
    return old["results"]["shares"]


def main():
    """Study generators, and leave a record of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("generators", nargs="*", default=list(GENERATORS), help="Which ones.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the data (default: 1).")
    parser.add_argument(
        "--only",
        action="append",
        metavar="CONTENDER",
        help="Run this one, and what has no record; give it again for others.",
    )
    options = parser.parse_args()
    for name in options.generators:
        shares = recorded(name) if options.only else {}
        for share in SHARES:
            print(f"-- {name}, {share:.0%}", flush=True)
            known = shares.get(str(share), {})
            found = study(GENERATORS[name], share, options.seed, known, options.only or ())
            shares[str(share)] = found
            save(f"outliers-{name}", {"rows": N_ROWS, "shares": shares})


if __name__ == "__main__":
    main()
