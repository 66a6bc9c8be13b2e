"""Rows with outliers: the trimmed loss against methods with a term for outliers, on clean rows.

python benchmarks/outliers.py     # writes results/outliers-<generator>.json

X = HD + noise + S, S uniform between two signs of an amplitude on a share of the entries, then
clipped from below at 1e-8, the paper's recipe also from above at 4,000, days at 1,500. Measured is
the root mean squared error against HD of 300 rows that atoms were not learned from, and the median
over rows.

Methods that make no atoms (robust PCA, GoDec, robust NMF, alternating projections) are given these
rows, outliers and all, together with the others: they have seen them. GoDec is told the rank and
the share, robust NMF takes the best of three penalties and robust PCA of three, judged by the clean
rows. Atoms of batch Huber and the true ones get the same codes as ours. Batch Huber goes on until
500 rounds lower its loss by less than 5e-4 of it, for 20,000 rounds at most.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import argparse
import time
from itertools import islice

import numpy as np
from benchmark_records import load, save

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


GENERATORS = {
    "paper": paper,
    "gamma": gamma,
    "dense": dense,
    "bumps": bumps,
    "levels": levels,  # the last two: nothing was chosen by them
    "days": days,
}


def robust_pca(X, share, rank):
    """Yield low ranks by principal component pursuit, inexact augmented Lagrangian."""
    for factor in (0.5, 1.0, 2.0):
        weight = factor / np.sqrt(max(X.shape))
        length = np.linalg.norm(X, 2)
        dual, penalty, sparse = X / max(length, np.abs(X).max() / weight), 1.25 / length, 0 * X
        for _ in range(100):
            left, values, right = np.linalg.svd(X - sparse + dual / penalty, full_matrices=False)
            low = (left * np.maximum(values - 1 / penalty, 0)) @ right
            rest = X - low + dual / penalty
            sparse = np.sign(rest) * np.maximum(np.abs(rest) - weight / penalty, 0)
            gap = X - low - sparse
            dual, penalty = dual + penalty * gap, min(penalty * 1.2, 1e7)
            if np.linalg.norm(gap) < 1e-6 * np.linalg.norm(X):
                break
        yield low


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


RIVALS = {
    "robust PCA": robust_pca,
    "GoDec": godec,
    "robust NMF": robust_nmf,
    "alternating projections": alternating,
}
KEPT = (*RIVALS, "batch Huber")
COMMITS = ("rivals of commit", "all but batch Huber of commit")


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


def study(make, share, seed, kept, huber_alone):
    """Return the errors of all contenders, and seconds of a busy machine; some may be kept."""
    from atomstream import OnlineNMF

    clean, plain, X, atoms = contaminated(make, share, seed)
    rank, truth = len(atoms), clean[N_ROWS:]
    report = dict(kept)  # what another commit has measured on the same rows

    def note(name, began, found):
        report[name] = {**errors(found, truth), "seconds": time.perf_counter() - began}
        print(name, {key: round(value, 2) for key, value in report[name].items()}, flush=True)

    def run_huber():
        """Note batch Huber, run to its end."""
        began = time.perf_counter()
        found, n_rounds = huber_atoms(X[:N_ROWS], rank, 0.7 * clean.std())
        holder = OnlineNMF.from_components(found, loss="trimmed")
        note("batch Huber", began, holder.clean(X[N_ROWS:]))
        report["batch Huber"]["rounds"] = n_rounds

    if huber_alone:
        run_huber()
        return report

    def learned(rows, loss, epochs):
        return OnlineNMF(rank, loss=loss, n_epochs=epochs, random_state=0).fit(rows[:N_ROWS])

    began = time.perf_counter()
    note("ours", began, learned(X, "trimmed", EPOCHS).clean(X[N_ROWS:]))
    began, passes = time.perf_counter(), EPOCHS + WARM_UP_PASSES
    note("squared, clean rows", began, learned(plain, "squared", passes).clean(plain[N_ROWS:]))
    began = time.perf_counter()
    note("squared", began, learned(X, "squared", passes).clean(X[N_ROWS:]))
    mean = clean.mean(axis=0)
    note("one atom", time.perf_counter(), np.outer(truth @ mean / (mean @ mean), mean))
    began = time.perf_counter()
    holder = OnlineNMF.from_components(atoms, loss="trimmed")
    note("true atoms", began, holder.clean(X[N_ROWS:]))
    if kept:
        return report
    run_huber()
    for name, rival in RIVALS.items():
        began = time.perf_counter()
        tried = [low[N_ROWS:] for low in rival(X, share, rank)]
        note(name, began, min(tried, key=lambda low: errors(low, truth)["rmse"]))
    return report


def main():
    """Study generators, and leave a record of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("generators", nargs="*", default=list(GENERATORS), help="Which ones.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the data (default: 1).")
    parser.add_argument(
        "--keep", action="store_true", help="Leave rivals, with batch Huber, as recorded."
    )
    parser.add_argument(
        "--huber", action="store_true", help="Run batch Huber alone; leave the rest as recorded."
    )
    options = parser.parse_args()
    for name in options.generators:
        report, known = {"rows": N_ROWS, "shares": {}}, {}
        if options.keep or options.huber:
            old = load(f"outliers-{name}")
            known = old["results"]["shares"]
            own = "all but batch Huber of commit" if options.huber else "rivals of commit"
            # What was kept before is of its own commit still.
            report |= {key: old["results"][key] for key in COMMITS if key in old["results"]}
            report.setdefault(own, old["commit"])
            report["shares"] = dict(known) if options.huber else {}
        for share in SHARES:
            print(f"-- {name}, {share:.0%}", flush=True)
            kept = known.get(str(share), {})
            kept = kept if options.huber else {rival: kept[rival] for rival in KEPT if kept}
            found = study(GENERATORS[name], share, options.seed, kept, options.huber)
            report["shares"][str(share)] = found
            save(f"outliers-{name}", report)


if __name__ == "__main__":
    main()
