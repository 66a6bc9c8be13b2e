"""Verdicts on structure: how often they are right, on made tables of six kinds.

``python benchmarks/verdicts.py`` writes ``results/verdicts.json``. Each kind has generators that
the verdict was tuned on, and two that were written afterwards and changed nothing in it. A planted
table has a few atoms; a table without has columns that are independent given their means, or one
profile with rows of very different size. Rows are as many as a verdict needs at least, to 5,000,
uniform in logarithm; as in `ConsensusNMF` a sample of 1,000 is judged. Planted atoms count as
recovered where an NMF of their number, under the squared loss or Kullback-Leibler, finds them to a
mean cosine of .8.

The rival is parallel analysis: the energy of three axes of the square roots of the shares of rows,
standardised, against columns that were shuffled 199 times, with the same two bounds of p.
"""

import time
from itertools import product

import numpy as np
from benchmark_records import save

from atomstream import OnlineNMF, align
from atomstream.fields.consensus.structure import MIN_UNITS, STRUCTURED, UNSTRUCTURED, judge

TABLES = 10  # of each generator, planted and without
ROWS = MIN_UNITS, 5000
JUDGED = 1000  # rows, as in `ConsensusNMF`
RECOVERED = 0.8
SHUFFLES, AXES = 199, 200  # of the rival, and columns that it has at most


def sparse_atoms(rng, rank, n_columns, density=0.4):
    """Return atoms of sum one; no column is without any."""
    atoms = rng.random((rank, n_columns)) * (rng.random((rank, n_columns)) < density)
    atoms[np.arange(n_columns) % rank, np.arange(n_columns)] += 0.05
    return atoms / atoms.sum(axis=1, keepdims=True)


def gamma_atoms(rng, rank, n_columns, shape):
    """Return atoms of sum one with entries of a gamma distribution."""
    atoms = rng.gamma(shape, 1, (rank, n_columns)) + 1e-3
    return atoms / atoms.sum(axis=1, keepdims=True)


def mixed(rng, n_rows, atoms, planted, weight):
    """Return the shares of rows: mixtures of the atoms, or all the same one."""
    weights = np.full(len(atoms), weight)
    codes = rng.dirichlet(weights, n_rows) if planted else rng.dirichlet(10 * weights, 1)
    return np.repeat(codes, n_rows // len(codes), axis=0) @ atoms


def uneven(rng, means, r):
    """Return counts of a negative binomial distribution: of variance m + m^2 / r."""
    return rng.negative_binomial(r, r / (r + means + 1e-9)).astype(float)


def shuffled(rng, X, planted):
    """Return a table; without structure each of its columns is in an order of its own."""
    return X if planted else rng.permuted(X, axis=0)


def size(rng, low=12, high=60):
    """Return a number of columns and of atoms."""
    return int(rng.integers(low, high)), int(rng.integers(2, 6))


# -- Poisson counts


def even_counts(rng, n_rows, planted):
    """Rows of about the same size."""
    n_columns, rank = size(rng)
    atoms = sparse_atoms(rng, rank, n_columns)
    means = rng.uniform(2, 10) * n_columns * mixed(rng, n_rows, atoms, planted, 0.5)
    return rng.poisson(means), atoms


def counts_of_sizes(rng, n_rows, planted):
    """Rows whose sizes differ."""
    n_columns, rank = size(rng, 20, 100)
    atoms = gamma_atoms(rng, rank, n_columns, 0.4)
    sizes = rng.lognormal(0, 0.7, (n_rows, 1)) * rng.uniform(1, 20) * n_columns
    return rng.poisson(sizes * mixed(rng, n_rows, atoms, planted, 0.5)), atoms


def catalogues(rng, n_rows, planted):
    """Mutations by 96 channels; without structure every column has a level of its own."""
    rank = int(rng.integers(2, 7))
    atoms = rng.dirichlet(np.full(96, 0.2), rank)
    means = rng.gamma(0.8, rng.uniform(50, 400), (n_rows, rank)) @ atoms
    return rng.poisson(
        means if planted else np.broadcast_to(means.mean(axis=0), means.shape)
    ), atoms


def counts_of_groups(rng, n_rows, planted):
    """Each row of one group; without structure the groups of the columns are unrelated."""
    n_columns, rank = size(rng, 15, 80)
    atoms = gamma_atoms(rng, rank, n_columns, 0.7)
    means = rng.uniform(1, 8) * n_columns * atoms[rng.integers(rank, size=n_rows)]
    return rng.poisson(shuffled(rng, means, planted)), atoms


# -- counts that vary more


def uneven_counts(rng, n_rows, planted):
    """Negative binomial counts."""
    n_columns, rank = size(rng)
    atoms = sparse_atoms(rng, rank, n_columns)
    means = rng.uniform(3, 20) * n_columns * mixed(rng, n_rows, atoms, planted, 0.3)
    return uneven(rng, means, rng.uniform(0.3, 2)), atoms


def lognormal_counts(rng, n_rows, planted):
    """Poisson counts of means that vary, rows of different sizes."""
    n_columns, rank = size(rng, 20, 80)
    atoms = gamma_atoms(rng, rank, n_columns, 0.5)
    sizes = rng.lognormal(0, 0.5, (n_rows, 1)) * rng.uniform(5, 30) * n_columns
    noise = rng.lognormal(0, rng.uniform(0.5, 1.2), (n_rows, n_columns))
    return rng.poisson(sizes * mixed(rng, n_rows, atoms, planted, 0.4) * noise), atoms


def zeros_and_counts(rng, n_rows, planted):
    """Negative binomial counts, and a third more zeros."""
    n_columns, rank = size(rng, 20, 120)
    atoms = gamma_atoms(rng, rank, n_columns, 0.6)
    sizes = rng.gamma(3, 1, (n_rows, 1)) * rng.uniform(2, 10) * n_columns
    counts = uneven(rng, sizes * mixed(rng, n_rows, atoms, planted, 0.3), rng.uniform(0.5, 3))
    return counts * (rng.random(counts.shape) > 0.33), atoms


def columns_apart(rng, n_rows, planted):
    """Every column varies in its own way; without structure columns are shuffled."""
    n_columns, rank = size(rng, 10, 50)
    atoms = sparse_atoms(rng, rank, n_columns, 0.5)
    means = rng.gamma(0.7, 8, (n_rows, rank)) @ atoms * n_columns
    return shuffled(rng, uneven(rng, means, rng.uniform(0.3, 5, n_columns)), planted), atoms


# -- gradients


def along(rng, n_rows, n_columns, widths, heights):
    """Return species with one optimum each, and what places 1/6, 1/2 and 5/6 have."""
    centres, width = rng.random(n_columns), rng.uniform(*widths, n_columns)
    height = heights * rng.lognormal(0, 1, n_columns)

    def at(places):
        return height * np.exp(-(((places[:, None] - centres) / width) ** 2)) + 1e-3

    return at(rng.random(n_rows)), at(np.array([1, 3, 5]) / 6)


def uneven_gradient(rng, n_rows, planted):
    """Uneven counts along a gradient, as of the oribatid mites."""
    means, atoms = along(rng, n_rows, int(rng.integers(20, 50)), (0.15, 0.45), 3)
    return uneven(rng, shuffled(rng, means, planted), rng.uniform(0.4, 1.5)), atoms


def even_gradient(rng, n_rows, planted):
    """Poisson counts along a gradient."""
    means, atoms = along(rng, n_rows, int(rng.integers(15, 80)), (0.2, 0.8), rng.uniform(1, 6))
    return rng.poisson(shuffled(rng, means, planted)), atoms


def neighbours(rng, n_rows, planted):
    """Places mix the two communities beside them."""
    n_columns, rank = size(rng, 15, 60)
    atoms = gamma_atoms(rng, rank, n_columns, 0.5)
    places = rng.random((n_rows, 1)) * (rank - 1)
    means = np.maximum(1 - np.abs(places - np.arange(rank)), 0) @ atoms * 4 * n_columns
    return uneven(rng, shuffled(rng, means, planted), rng.uniform(0.5, 3)), atoms


def cover(rng, n_rows, planted):
    """Per cent of cover, of sites of different sizes."""
    means, atoms = along(rng, n_rows, int(rng.integers(12, 60)), (0.1, 0.4), 8)
    sizes = rng.lognormal(0, 0.6, (n_rows, 1))
    return sizes * shuffled(rng, means, planted) * rng.gamma(2, 0.5, means.shape), atoms


# -- short texts


def texts_of(rng, lengths, shares):
    """Return counts of words."""
    return np.array([rng.multinomial(*row) for row in zip(lengths, shares, strict=True)])


def common_words(rng, n_rows, planted):
    """Half of the words of every topic are those that all have."""
    n_words, rank = int(rng.integers(100, 500)), int(rng.integers(3, 9))
    base = np.arange(1, n_words + 1) ** -0.8
    base /= base.sum()
    atoms = (rng.dirichlet(base * n_words * 0.05 + 1e-6, rank) + base) / 2
    shares = atoms[rng.integers(rank, size=n_rows)] if planted else [atoms.mean(axis=0)] * n_rows
    return texts_of(rng, rng.integers(4, 20, n_rows), shares), atoms


def mixed_topics(rng, n_rows, planted):
    """Texts that mix topics."""
    atoms = rng.dirichlet(np.full(int(rng.integers(200, 800)), 0.05), int(rng.integers(2, 6)))
    lengths = np.maximum(rng.poisson(rng.uniform(5, 15), n_rows), 1)
    return texts_of(rng, lengths, mixed(rng, n_rows, atoms, planted, 0.2)), atoms


def headlines(rng, n_rows, planted):
    """Texts of one topic each, with a tail of rare words."""
    n_words, rank = int(rng.integers(300, 1500)), int(rng.integers(3, 7))
    common = rng.permuted(np.tile(np.arange(1, n_words + 1) ** -1.0, (rank, 1)), axis=1)
    atoms = common / common.sum(axis=1, keepdims=True)
    shares = atoms[rng.integers(rank, size=n_rows)] if planted else [atoms.mean(axis=0)] * n_rows
    return texts_of(rng, 3 + rng.poisson(5, n_rows), shares), atoms


def overlapping_topics(rng, n_rows, planted):
    """Texts of two topics and common words; lengths vary."""
    n_words, rank = int(rng.integers(150, 900)), int(rng.integers(2, 5))
    base = rng.dirichlet(np.full(n_words, 0.5))
    atoms = 0.7 * rng.dirichlet(base * n_words * 0.1 + 1e-6, rank) + 0.3 * base
    pairs = np.eye(rank)[rng.integers(rank, size=(n_rows, 2))].mean(axis=1) if planted else None
    shares = pairs @ atoms if planted else [atoms.mean(axis=0)] * n_rows
    return texts_of(rng, 4 + rng.negative_binomial(2, 0.2, n_rows), shares), atoms


def words_or_none(rng, n_rows, planted):
    """Whether a word is there, texts of very different length."""
    atoms = gamma_atoms(rng, int(rng.integers(2, 6)), int(rng.integers(80, 400)), 0.15)
    lengths = rng.lognormal(2.3, 0.5, (n_rows, 1))
    return rng.random((n_rows, atoms.shape[1])) < lengths * mixed(
        rng, n_rows, atoms, planted, 0.2
    ), atoms


# -- dense tables with noise


def cut_noise(rng, n_rows, planted):
    """Noise that is cut at zero; without structure columns are shuffled."""
    n_columns, rank = size(rng)
    atoms = sparse_atoms(rng, rank, n_columns, 0.5)
    X = shuffled(rng, rng.exponential(size=(n_rows, rank)) @ atoms, planted)
    return np.maximum(X + rng.uniform(0.05, 0.5) * X.std() * rng.standard_normal(X.shape), 0), atoms


def spectra(rng, n_rows, planted):
    """Peaks above a level, noise in proportion; without structure all rows have the same means."""
    n_columns, rank = size(rng, 10, 100)
    places, widths = rng.random((rank, 1)), rng.uniform(0.05, 0.2, (rank, 1))
    atoms = np.exp(-(((np.linspace(0, 1, n_columns) - places) / widths) ** 2))
    codes = rng.gamma(rng.uniform(0.5, 3), 1, (n_rows if planted else 1, rank))
    noise = rng.lognormal(0, rng.uniform(0.05, 0.3), (n_rows, n_columns))
    return (1 + codes @ atoms) * noise, atoms


def skewed(rng, n_rows, planted):
    """Atoms that overlap; without structure columns of lognormal numbers of very different size."""
    n_columns, rank = size(rng, 8, 40)
    atoms = rng.random((rank, n_columns)) ** 2
    if not planted:
        return rng.lognormal(0, 1, (n_rows, n_columns)) * rng.lognormal(0, 1.5, n_columns), atoms
    X = rng.gamma(1.5, 1, (n_rows, rank)) @ atoms
    return X + rng.uniform(0.05, 0.4) * rng.random(X.shape), atoms


def chemistry(rng, n_rows, planted):
    """Concentrations from sources; one column in ten is much larger than the others."""
    n_columns, rank = size(rng, 12, 40)
    atoms = sparse_atoms(rng, rank, n_columns) * np.where(rng.random(n_columns) < 0.1, 30, 1)
    X = shuffled(rng, rng.lognormal(0, 0.8, (n_rows, rank)) @ atoms, planted)
    noise = X.std(axis=0) * rng.uniform(0.1, 0.6, n_columns) * rng.standard_normal(X.shape)
    return np.maximum(X + noise, 0), atoms


# -- one profile, rows of very different size


def poisson_sizes(rng, n_rows, planted):
    """Poisson counts."""
    profile = rng.dirichlet(np.full(int(rng.integers(10, 80)), 0.7))
    sizes = rng.lognormal(0, rng.uniform(0.8, 2), (n_rows, 1)) * rng.uniform(1, 10) * len(profile)
    return rng.poisson(sizes * profile), None


def uneven_sizes(rng, n_rows, planted):
    """Negative binomial counts."""
    profile = rng.dirichlet(np.full(int(rng.integers(10, 80)), 0.7))
    sizes = rng.lognormal(0, rng.uniform(0.8, 1.5), (n_rows, 1)) * len(profile)
    return uneven(rng, sizes * rng.uniform(1, 10) * profile, rng.uniform(0.4, 3)), None


def long_and_short_texts(rng, n_rows, planted):
    """Texts of one word to several thousand."""
    profile = rng.dirichlet(np.full(int(rng.integers(50, 500)), 0.3))
    lengths = np.minimum(3 * (1 + rng.pareto(1.0, n_rows)), 5000).astype(int)
    return texts_of(rng, lengths, [profile] * n_rows), None


def measured_sizes(rng, n_rows, planted):
    """Measurements over three powers of ten, with noise in proportion."""
    profile = rng.gamma(1, 1, int(rng.integers(8, 60)))
    sizes = 10 ** rng.uniform(0, 3, (n_rows, 1))
    return sizes * profile * rng.gamma(4, 0.25, (n_rows, len(profile))), None


# Those that the verdict was tuned on, and those that it was not.
KINDS = {
    "Poisson": ((even_counts, counts_of_sizes), (catalogues, counts_of_groups)),
    "overdispersed": ((uneven_counts, lognormal_counts), (zeros_and_counts, columns_apart)),
    "gradients": ((uneven_gradient, even_gradient), (neighbours, cover)),
    "short texts": ((common_words, mixed_topics, headlines), (overlapping_topics, words_or_none)),
    "dense with noise": ((cut_noise, spectra), (skewed, chemistry)),
    "one profile": ((poisson_sizes, uneven_sizes), (long_and_short_texts, measured_sizes)),
}


def made(generator, seed, planted, rows=ROWS):
    """Return a table of a generator, and the atoms planted in it."""
    rng = np.random.default_rng([*generator.__name__.encode(), seed, planted])
    n_rows = int(np.exp(rng.uniform(*np.log(rows))))
    X, atoms = generator(rng, n_rows, planted)
    return np.asarray(X, np.float64), atoms


def recovered(X, atoms):
    """Return whether an NMF of their number finds the atoms."""
    X = X[X.any(axis=1)]
    return any(
        align(atoms, OnlineNMF(len(atoms), loss=loss, random_state=0).fit(X)).similarity.mean()
        >= RECOVERED
        for loss in ("squared", "kl")
    )


def three_axes(Z):
    """Return the share of three axes in the energy of the columns, which are standardised."""
    Z = (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-12)
    products = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    return np.linalg.eigvalsh(products)[-3:].sum() / np.trace(products)


def parallel_analysis(X, rng):
    """Return what shuffled columns say: True, False, or None where it is open."""
    X = X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:AXES])]
    X = X[X.any(axis=1)]
    Z = np.sqrt(X / X.sum(axis=1, keepdims=True))
    found, as_high, tables = three_axes(Z), 0, 0
    while tables < SHUFFLES and as_high < UNSTRUCTURED * (SHUFFLES + 1):
        as_high += three_axes(rng.permuted(Z, axis=0)) >= found
        tables += 1
    p = (1 + as_high) / (1 + tables)
    return True if p <= STRUCTURED else False if p > UNSTRUCTURED else None


def judged(generator, planted, rows=ROWS, tables=TABLES):
    """Return what was said of the tables of a generator."""
    found = []
    for seed in range(tables):
        X, atoms = made(generator, seed, planted, rows)
        began = time.process_time()
        verdict = judge(X[:JUDGED], seed=seed)
        seconds = time.process_time() - began
        found.append({"rows": len(X), "structured": verdict.structured, "seconds": seconds})
        found[-1] |= {"p": verdict.p_value, "explanation": verdict.explanation}
        found[-1]["rival"] = parallel_analysis(X[:JUDGED], np.random.default_rng(seed))
        if planted:
            found[-1]["recovered"] = bool(recovered(X, atoms))
    return found


def rates(found, planted):
    """Return how many tables count, and of these what was said."""
    counted = [each for each in found if not planted or each["recovered"]]
    told: dict = {"tables": len(found), "counted": len(counted)}
    for name in ("structured", "rival"):
        said = [each[name] for each in counted]
        told[name] = {"yes": said.count(True), "no": said.count(False), "open": said.count(None)}
    return told | {"seconds": max(each["seconds"] for each in found)}


def main():
    """Judge all tables, and write how often each thing was said."""
    began, rows = time.perf_counter(), []
    for (kind, halves), planted in product(KINDS.items(), (True, False)):
        if planted and kind == "one profile":
            continue
        for half, generators in zip(("tuned", "fresh"), halves, strict=True):
            found = [each for generator in generators for each in judged(generator, planted)]
            rows.append({"kind": kind, "half": half, "planted": planted} | rates(found, planted))
            print(rows[-1], flush=True)
    result = {"rows": rows, "least": MIN_UNITS, "most": ROWS[1], "judged": JUDGED}
    save("verdicts", result, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
