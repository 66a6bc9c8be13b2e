"""Unmixing of spectral images: end members and their shares, on Samson and on simulated cubes.

``judged/unmixing.py`` writes ``results/unmixing-cubes.json``. Samson has 95 x 95 pixels
of 156 bands; three end members and the shares of each pixel are given (the shares are nonnegative
least squares on the given members, over their sum). All pixels are brought to length one, for all
methods. The figure is the mean angle, in radians, between the given members and those found, one
to one, and the root mean squared error of shares, which are nonnegative least squares on the
members found, over their sum.

Ours is `OnlineDictionaryLearning` with codes that sum to one, atoms that are not negative, the
start "spread" and fifty passes. The weight of the volume, one for all cubes, is searched on twelve
cubes of random spectra; .003, the start and the number of passes were fixed after other cubes made
of the spectra of Samson (seed 7) and Samson itself had been looked at.
The simulated cubes that are reported are made of the spectra of Samson: shares from a Dirichlet
law of .3, brightness that varies by a factor of four, and noise; in one materials vary from pixel
to pixel by a slope of 10 %, and in one no share is above .9, so that no pixel is pure.

Rivals: the simplex of smallest volume, all pixels at once (`smallest`), its penalty searched over
as many ``PENALTIES`` on the same twelve cubes, ten starts; successive projection, from the
brightest pixel (and from every fiftieth pixel, for on pixels of length one the first choice is a
tie of all), and vertex component analysis, twenty seeds.

Pixels of length one do not lie in a simplex; divided by their product with the first singular
direction they do. Ours and the simplex of smallest volume have both kinds, with weights searched
for each of the four on the twelve cubes.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import time

import numpy as np
import scipy.io
from benchmark_records import DATA, save
from scipy.optimize import linear_sum_assignment, minimize, nnls

from atomstream import OnlineDictionaryLearning
from atomstream.updates import BlockCoordinate

WEIGHTS = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03)
FOR_DIVIDED = (0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01)  # weights where brightness is divided out
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SMALL = 1e-3  # shares that are less below zero than this count by their squares
SEEDS = range(10)
CUBES = {
    "40 x 60, noise .02, materials that vary": ((40, 60), 0.02, 0.1, 1.0),
    "90 x 100, noise .05": ((90, 100), 0.05, 0.0, 1.0),
    "60 x 60, noise .03, no share above .9": ((60, 60), 0.03, 0.0, 0.9),
}


def unit(rows):
    """Return rows of length one."""
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def divided(X):
    """Return pixels over their product with the first singular direction: no brightness is left."""
    return X / (X @ np.abs(np.linalg.svd(X.T @ X)[2][0]))[:, None]


def ours(X, n_members, weight, seed):
    """Return the end members of the smallest volume."""
    model = OnlineDictionaryLearning(
        *(n_members,),
        alpha=0.0,
        codes="simplex",
        atoms="nonnegative",
        updater=BlockCoordinate(volume=weight),
        init="spread",
        n_epochs=50,
        random_state=seed,
    )
    return model.fit(X).components_


def projection(X, n_members, first):
    """Return the pixels that successive projection picks: each the furthest from those before."""
    left, chosen = X.copy(), []
    for _ in range(n_members):
        place = int((left**2).sum(axis=1).argmax()) if chosen else first
        chosen.append(place)
        direction = left[place] / np.linalg.norm(left[place])
        left -= np.outer(left @ direction, direction)
    return X[chosen]


def vertices(X, n_members, seed):
    """Return the pixels that vertex component analysis picks: extremes in random directions."""
    rng = np.random.default_rng(seed)
    low = X @ np.linalg.svd(X.T @ X)[2][:n_members].T
    rows = low / (low @ low.mean(axis=0))[:, None]  # on a plane, whatever their brightness
    found = np.zeros((n_members, n_members))
    found[0, -1] = 1.0
    chosen = []
    for step in range(n_members):
        known = found[: max(step, 1)]
        direction = rng.standard_normal(n_members)
        direction -= np.linalg.pinv(known) @ (known @ direction)
        chosen.append(int(np.abs(rows @ direction).argmax()))
        found[step] = rows[chosen[-1]]
    return X[chosen]


def smallest(X, n_members, penalty, seed):
    """Return the vertices of the simplex of smallest volume around the pixels.

    Pixels are divided by their product with the mean, as for vertex component analysis, which
    takes their brightness away and gives each shares that sum to one, linear in the pixel. What is
    minimised is the mean over pixels of the sum of what their shares are below zero, minus the
    penalty times the logarithm of the determinant of the map to shares, which is that of the volume
    but for its sign and a constant. The start is vertex component analysis.
    """
    axes = np.linalg.svd(X.T @ X)[2][:n_members]
    low = X @ axes.T
    centre = low.mean(axis=0)
    begin = vertices(X, n_members, seed) @ axes.T
    begin /= (begin @ centre)[:, None]
    begun = (low / (low @ centre)[:, None]) @ np.linalg.inv(begin)  # shares of the start

    def to_shares(free):
        free = free.reshape(n_members, -1)
        return np.column_stack([free, 1 - free.sum(axis=1)])

    def objective(free):
        """Return what is minimised, and its gradient by the free entries of the map."""
        to = to_shares(free)
        below = np.maximum(-(begun @ to), 0)
        costs = np.where(below < SMALL, below**2 / (2 * SMALL), below - SMALL / 2)
        slopes = -np.minimum(below / SMALL, 1)
        slope = begun.T @ slopes / len(X) - penalty * np.linalg.inv(to).T
        value = costs.sum() / len(X) - penalty * np.linalg.slogdet(to)[1]
        return value, (slope[:, :-1] - slope[:, -1:]).ravel()

    found = minimize(objective, np.eye(n_members)[:, :-1].ravel(), jac=True, method="L-BFGS-B")
    return unit(np.maximum(np.linalg.inv(to_shares(found.x)) @ begin @ axes, 0))


def ours_divided(X, n_members, weight, seed):
    """Return the end members of the smallest volume of pixels whose brightness is divided out."""
    return unit(ours(divided(X), n_members, weight, seed))


def smallest_divided(X, n_members, penalty, seed):
    """Return the vertices of the simplex of smallest volume around such pixels."""
    return smallest(divided(X), n_members, penalty, seed)


def judged(found, members, X=None, shares=None):
    """Return the mean angle, and the error of shares where these are given."""
    angles = np.arccos(np.clip(unit(found) @ unit(members).T, -1, 1))
    own, other = linear_sum_assignment(angles)
    angle = float(angles[own, other].mean())
    if shares is None:
        return angle
    order = own[np.argsort(other)]
    codes = np.array([nnls(found[order].T, row)[0] for row in X])
    codes /= np.maximum(codes.sum(axis=1, keepdims=True), 1e-12)
    return angle, float(np.sqrt(np.mean((codes - shares) ** 2)))


def simulated(members, n_pixels, noise, seed, slope=0.0, most=1.0):
    """Return pixels: shares of at most ``most``, brightness, noise relative to the mean."""
    rng, pixels = np.random.default_rng(seed), []
    bands = np.linspace(-1, 1, members.shape[1])
    while len(pixels) < n_pixels:
        shares = rng.dirichlet(np.full(len(members), 0.3))
        varied = members * (1 + slope * rng.standard_normal((len(members), 1)) * bands)
        if shares.max() <= most:
            pixels.append(rng.uniform(0.5, 2) * shares @ varied)
    X = np.array(pixels)
    return np.maximum(X + noise * X.mean() * rng.standard_normal(X.shape), 0)


def random_spectra(n_members, n_bands, rng):
    """Return smooth spectra: a slope and some wide lines."""
    x, made = np.linspace(0, 1, n_bands), []
    for _ in range(n_members):
        spectrum = 0.3 + 0.5 * rng.random() * x
        for middle, width, height in zip(
            rng.random(4), rng.uniform(0.05, 0.2, 4), rng.random(4), strict=True
        ):
            spectrum = spectrum + height * np.exp(-0.5 * ((x - middle) / width) ** 2)
        made.append(spectrum)
    return np.array(made)


SEARCHED = {
    ours: ("ours", WEIGHTS),
    ours_divided: ("ours after division", FOR_DIVIDED),
    smallest: ("smallest volume", PENALTIES),
    smallest_divided: ("smallest volume after division", PENALTIES),
}


def choice():
    """Return the mean angle of each weight of each method on cubes that are not reported."""
    angles = {(method, weight): [] for method in SEARCHED for weight in SEARCHED[method][1]}
    for seed in range(12):
        rng = np.random.default_rng(1000 + seed)
        members = unit(random_spectra(int(rng.integers(3, 6)), 120, rng))
        X = unit(simulated(members, 4000, (0.01, 0.03, 0.1)[seed % 3], 2000 + seed))
        for method, weight in angles:
            found = method(X, len(members), weight, 0)
            angles[method, weight].append(judged(found, members))
    return {
        name: {str(weight): np.mean(angles[method, weight]) for weight in weights}
        for method, (name, weights) in SEARCHED.items()
    }


def contenders(X, members, shares=None, seeds=SEEDS):
    """Return what each method finds on a cube."""
    n, found = len(members), {}
    for method, (name, weights) in SEARCHED.items():
        for weight in weights[1:-1]:
            began = time.process_time()
            atoms = [method(X, n, weight, seed) for seed in seeds]
            seconds = (time.process_time() - began) / len(atoms)
            told_of = told(atoms, members, X, shares)
            found[f"{name}, {weight:.3g}"] = {"seconds": seconds} | told_of
    brightest = int((X**2).sum(axis=1).argmax())
    found["successive projection"] = told([projection(X, n, brightest)], members, X, shares)
    every = [projection(X, n, first) for first in range(0, len(X), 50)]
    found["successive projection, any first"] = told(every, members)
    found["vertex component analysis"] = told([vertices(X, n, seed) for seed in range(20)], members)
    return found


def told(atoms, members, X=None, shares=None):
    """Return the angles of runs, and the error of the shares of the first."""
    angles = [judged(each, members) for each in atoms]
    found = {"median": np.median(angles), "best": min(angles), "worst": max(angles)}
    return found | ({} if shares is None else {"shares": judged(atoms[0], members, X, shares)[1]})


def main():
    """Unmix Samson and the simulated cubes, and leave the record."""
    file = scipy.io.loadmat(DATA / "unmixing/Samson.mat")
    members, shares = file["GT"].astype(float), file["S_GT"].astype(float)
    raw = file["Y"].T.astype(float)
    X = unit(raw)
    own = np.swapaxes(shares, 0, 1).reshape(len(X), -1)  # pixels column by column
    found = {"weights": choice()}
    print(found, flush=True)
    found["Samson"] = contenders(X, members, own)
    brightest = int((raw**2).sum(axis=1).argmax())
    found["Samson"]["successive projection"] = told(
        [projection(X, len(members), brightest)], members, X, own
    )
    print(found["Samson"], flush=True)
    for name, (shape, noise, slope, most) in CUBES.items():
        cube = unit(simulated(members, shape[0] * shape[1], noise, 11, slope, most))
        found[name] = contenders(cube, members)
        print(name, found[name], flush=True)
    save("unmixing-cubes", found)


if __name__ == "__main__":
    main()
