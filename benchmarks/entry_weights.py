"""Weights of entries: `fit` and one online pass against weighted multiplicative updates.

``python benchmarks/entry_weights.py`` writes a record for each part, or for the parts named.

The data are hourly measurements of air in St Louis (12 columns) and Baton Rouge (40), with the
uncertainty of each: columns are divided by their root mean square, and entries weigh one over the
squared uncertainty. The peer are multiplicative updates in which every entry has its weight, from
random numbers.

squared
    4, 6 and 8 sources. Twenty runs of theirs make 4,000 rounds, and then a thousand at a time until
    these lower the weighted sum of squares by less than 1e-5 of it, or 40,000 are made. Ours are
    twenty default calls with other seeds than any that served for tuning; the first ten also count
    as single calls.
other-losses
    The same under Kullback-Leibler and Huber's loss (delta half of a root mean square): best of
    five runs, to the same end, and five calls. Under Huber's loss atoms are also learned from 70 %
    of the rows, theirs by runs to the same end, and judged on the others: by the loss of the rows
    themselves, and by the loss of a fifth of the columns, hidden while their codes are found.
    ``kl`` runs the first of both alone.
stream
    100,000 rows made from a model learned from the data: codes of measured rows times
    lognormal numbers, gamma noise of the uncertainty of the row. One pass and an alternation to its
    end over 20,000 of the rows begin with the same random atoms. Judged by the weighted squared
    error against 2,000 clean rows, of codes found on noisy ones, over that of the planted atoms.

Times are those of the processor, one thread.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import csv
import sys
import time
import warnings
from statistics import median

import numpy as np
from benchmark_records import DATA, load, save

from atomstream import OnlineNMF
from atomstream.updates import Majorise

SITES, SOURCES, LOSSES = ("StLouis", "BatonRouge"), (4, 6, 8), ("kl", "huber")
N_RUNS, N_CALLS, FIRST_SEED = 20, 10, 100
ROUNDS, STRETCH, MAX_ROUNDS, LITTLE = 4_000, 1_000, 40_000, 1e-5
DELTA, TINY, NOUGHT = 0.5, 1e-300, 1e-150
N_ROWS, N_ROWS_OF_ALTERNATION, N_CLEAN = 100_000, 20_000, 2_000
NAMES = {"kl": "kl", "huber": f"huber:{DELTA}"}


def air(site):
    """Return measurements and weights; the last column is a total, the first one the date."""

    def numbers(kind):
        with (DATA / f"air/{site}-{kind}.csv").open(encoding="utf-8-sig") as file:
            return np.array([row[1:-1] for row in list(csv.reader(file))[1:] if row], dtype=float)

    values = numbers("con")
    size = np.sqrt((values**2).mean(axis=0))
    return values / size, (size / numbers("unc")) ** 2


def entries(X, Y, loss):
    """Return the loss of each entry; of the squared one twice what the library minimises."""
    if loss == "squared":
        return (X - Y) ** 2
    if loss == "kl":
        Y = np.maximum(Y, TINY)
        return X * np.log(np.where(X > 0, X, 1) / np.where(X > 0, Y, 1)) - X + Y
    small = np.minimum(np.abs(X - Y), DELTA)
    return small * (np.abs(X - Y) - 0.5 * small)


def value(X, W, codes, atoms, loss):
    """Return the weighted losses of runs, stacked or single."""
    return (W * entries(X, codes @ atoms, loss)).sum(axis=(-2, -1))


def sides(X, W, Y, loss):
    """Return what the multiplicative step of a loss has above and below the line."""
    if loss == "kl":
        return W * X / np.maximum(Y, TINY), W
    if loss == "huber":
        W = W * DELTA / np.maximum(np.abs(X - Y), DELTA)
    return W * X, W * Y


def updates(X, W, codes, atoms, n_rounds, loss="squared"):
    """Return codes and atoms after rounds of weighted multiplicative updates.

    Entries stay so large that products of two are normal numbers: others take some processors five
    times as long.
    """
    for k in range(n_rounds):
        if k % 100 == 0:
            codes, atoms = (np.maximum(part, NOUGHT) for part in (codes, atoms))
        up, down = sides(X, W, codes @ atoms, loss)
        turned = np.swapaxes(atoms, -1, -2)
        codes = codes * (up @ turned) / (down @ turned + TINY)
        up, down = sides(X, W, codes @ atoms, loss)
        turned = np.swapaxes(codes, -1, -2)
        atoms = atoms * (turned @ up) / (turned @ down + TINY)
    return codes, atoms


def starts(X, rank, n_runs):
    """Return random codes and atoms, a run in each layer."""
    shapes = (len(X), rank), (rank, X.shape[1])
    rngs = [np.random.default_rng(seed) for seed in range(n_runs)]
    codes, atoms = zip(*([rng.random(shape) for shape in shapes] for rng in rngs), strict=True)
    return np.stack(codes), np.stack(atoms)


def to_the_end(X, W, rank, loss, n_runs):
    """Return the values of runs at their ends, their rounds and their atoms."""
    codes, atoms = updates(X, W, *starts(X, rank, n_runs), ROUNDS, loss)
    ends, n_rounds, learned = value(X, W, codes, atoms, loss), np.full(n_runs, ROUNDS), atoms.copy()
    live = np.arange(n_runs)
    while len(live) and n_rounds[live[0]] < MAX_ROUNDS:
        codes, atoms = updates(X, W, codes, atoms, STRETCH, loss)
        now = value(X, W, codes, atoms, loss)
        falls = ends[live] - now > LITTLE * now
        ends[live], n_rounds[live], learned[live] = now, n_rounds[live] + STRETCH, atoms
        live, codes, atoms = live[falls], codes[falls], atoms[falls]
    return ends, n_rounds, learned


def call(X, W, rank, loss, seed, updater="auto"):
    """Return the value of a default call, and its seconds."""
    model = OnlineNMF(rank, loss=NAMES.get(loss, loss), random_state=seed, updater=updater)
    began = time.process_time()
    model.fit(X, entry_weight=W)
    seconds = time.process_time() - began
    codes = model.transform(X, entry_weight=W)
    return float(value(X, W, codes, model.components_, loss)), seconds


def one_run(X, W, rank, loss):
    """Return the seconds of one of their runs."""
    codes, atoms = (part[0] for part in starts(X, rank, 1))
    began = time.process_time()
    updates(X, W, codes, atoms, ROUNDS, loss)
    return time.process_time() - began


def squared(site, rank):
    """Return how twenty calls end over the best of twenty runs."""
    X, W = air(site)
    call(X, W, rank, "squared", 0)  # compiles
    runs = [call(X, W, rank, "squared", FIRST_SEED + k) for k in range(N_RUNS)]
    ends, n_rounds, _ = to_the_end(X, W, rank, "squared", N_RUNS)
    best, ours = float(ends.min()), [end / float(ends.min()) for end, _ in runs]
    theirs = one_run(X, W, rank, "squared")
    return {
        "their best": best,
        "their rounds": [int(np.median(n_rounds)), int(n_rounds.max())],
        "their share within 1.005": float((ends <= 1.005 * best).mean()),
        "their median": float(np.median(ends) / best),
        "our best": min(ours),
        "our median": median(ours[:N_CALLS]),
        "our worst": max(ours[:N_CALLS]),
        "time": median(seconds for _, seconds in runs) / theirs,
        "seconds of a run": theirs,
    }


def other_losses(site, rank, losses=LOSSES):
    """Return how five calls end over the best of five runs, by loss and updater."""
    X, W = air(site)
    found = {}
    for loss in losses:
        ends, n_rounds, _ = to_the_end(X, W, rank, loss, 5)
        best, theirs = ends.min(), one_run(X, W, rank, loss)
        for name in ("auto",) if loss == "kl" else ("auto", "Majorise()"):
            updater = "auto" if name == "auto" else Majorise()
            call(X, W, rank, loss, 0, updater)
            runs = [call(X, W, rank, loss, FIRST_SEED + k, updater) for k in range(5)]
            ours = [float(end / best) for end, _ in runs]
            found[f"{loss}, {name}"] = {
                "median": median(ours),
                "worst": max(ours),
                "time": median(seconds for _, seconds in runs) / theirs,
                "their median": float(np.median(ends) / best),
                "their rounds": [int(np.median(n_rounds)), int(n_rounds.max())],
            }
    return found


def foreseen(site, rank, n_splits=2):
    """Return losses on rows left out over those of batch atoms, under Huber's loss."""
    X, W = air(site)
    ratios = {"auto": [], "Majorise()": []}
    for split in range(n_splits):
        order = np.random.default_rng(split).permutation(len(X))
        known, left = np.split(order, [int(0.7 * len(X))])
        ends, _, atoms = to_the_end(X[known], W[known], rank, "huber", 5)
        best = atoms[ends.argmin()]
        theirs = on_rows_left(best / np.linalg.norm(best, axis=1, keepdims=True), X[left], W[left])
        for name, ended in ratios.items():
            updater = "auto" if name == "auto" else Majorise()
            model = OnlineNMF(rank, loss=NAMES["huber"], random_state=FIRST_SEED, updater=updater)
            model.fit(X[known], entry_weight=W[known])
            ended.append(on_rows_left(model.components_, X[left], W[left]) / theirs)
    return {
        name: dict(zip(("seen", "hidden"), np.exp(np.log(each).mean(axis=0)), strict=True))
        for name, each in ratios.items()
    }


def on_rows_left(atoms, X, W):
    """Return the loss of rows under their own codes, and of entries hidden from their codes."""
    model = OnlineNMF.from_components(atoms, loss=NAMES["huber"])
    errors = [W * entries(X, model.transform(X, entry_weight=W) @ atoms, "huber")]
    order = np.random.default_rng(5).permutation(X.shape[1]) % 5
    for part in range(5):
        hidden = np.broadcast_to(order == part, X.shape)
        made = model.transform(X, entry_weight=W * ~hidden) @ atoms
        errors.append(W * hidden * entries(X, made, "huber"))
    return np.array([errors[0].sum(), sum(part.sum() for part in errors[1:])])


def rows_of(model, W, codes, n, rng):
    """Return clean rows, noisy ones, and their weights."""
    rows = rng.integers(len(codes), size=n)
    drawn = codes[rows] * np.exp(0.3 * rng.standard_normal((n, codes.shape[1])))
    clean, noise = drawn @ model + 1e-9, 1 / W[rows]
    return clean, rng.gamma(clean**2 / noise, noise / clean), W[rows]


def stream(site, rank):
    """Return errors against clean rows over those of the planted atoms, of three starts each."""
    X, W = air(site)
    model = OnlineNMF(rank, random_state=0).fit(X, entry_weight=W)
    planted = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    codes = model.transform(X, entry_weight=W) * np.linalg.norm(model.components_, axis=1)
    found = {"start": [], "one pass": [], "alternation": [], "seconds of the pass": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        _, rows, weights = rows_of(planted, W, codes, N_ROWS, rng)
        clean, unseen, of_unseen = rows_of(planted, W, codes, N_CLEAN, rng)

        def error(atoms, truth=(clean, unseen, of_unseen)):
            holder = OnlineNMF.from_components(atoms)
            made = holder.transform(truth[1], entry_weight=truth[2]) @ holder.components_
            return float((truth[2] * (truth[0] - made) ** 2).sum())

        unit, start = error(planted), rng.random(planted.shape)
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        found["start"].append(error(start) / unit)
        settings, part = {"init": start, "random_state": seed}, slice(N_ROWS_OF_ALTERNATION)
        began = time.process_time()
        online = OnlineNMF(rank, n_epochs=1, **settings).fit(rows, entry_weight=weights)
        found["seconds of the pass"].append(time.process_time() - began)
        found["one pass"].append(error(online.components_) / unit)
        whole = OnlineNMF(rank, **settings).fit(rows[part], entry_weight=weights[part])
        found["alternation"].append(error(whole.components_) / unit)
    return found


PARTS = {"squared": squared, "other-losses": other_losses, "stream": stream}


def kl_alone():
    """Put new figures under Kullback-Leibler into the record, which names the commit of others."""
    record, began = load("entry-weights-other-losses"), time.perf_counter()
    results = record["results"]
    results.setdefault("all but kl of commit", record["commit"])
    for site in SITES:
        for rank in SOURCES:
            results[site][str(rank)] |= other_losses(site, rank, ("kl",))
            print(site, rank, results[site][str(rank)]["kl, auto"], flush=True)
    save("entry-weights-other-losses", results, seconds=time.perf_counter() - began)


def main(names):
    """Study the parts, and write the record of each after every case."""
    warnings.simplefilter("ignore")
    if names == ["kl"]:
        kl_alone()
        return
    for name in names:
        results, began = {}, time.perf_counter()
        for site in SITES:
            for rank in SOURCES:
                found = PARTS[name](site, rank)
                if name == "other-losses" and rank < SOURCES[-1]:
                    found["rows left out"] = foreseen(site, rank)
                results.setdefault(site, {})[str(rank)] = found
                print(name, site, rank, found, flush=True)
                save(f"entry-weights-{name}", results, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main(sys.argv[1:] or PARTS)
