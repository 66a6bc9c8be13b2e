"""Experiments 004-6 and 004-7: faces of Yale B without salt and pepper, by the Huber loss.

Zhao, Tan and Xu (2017), section VIII-F, Fig. 3 and Table VIII: of every image of a subject (64 of
32 x 32, grey levels 0 to 255) 30 % of the pixels get noise U(-255, 255) and are clipped to [0,
255]; the images are repeated p times in random order; K = 40 atoms are learned per subject. There
are two readings: section VIII-B repeats first and then adds noise, so that every copy has noise of
its own ("new noise"); VIII-F repeats the 64 contaminated images ("same noise"), and 40 atoms may
then learn the noise of 64 images by heart. Both are run, with p = 60 (the paper: 1500), as one pass
in batches of 64; other settings are the defaults.

Compared: ``OnlineNMF`` with the squared and with the Huber loss, the paper's own method ("spsg")
with Huber, and batch multiplicative updates weighted for Huber (`baselines.weighted_mu`; 100
iterations on all copies under new noise, 200 on the 64 images under the same noise, where copies
change nothing). The simple rivals learn no atoms: the median of the copies of each image, and
robust principal components (low rank and sparse, Candes, Li, Ma and Wright 2011) of the 64 images
that are reconstructed, with the best of three penalties, judged by the clean images. The threshold
of Huber is 15 grey levels, 6 % of their range: what 40 atoms leave of a clean pixel is mostly
smaller, the noise mostly larger; 5 and 45 are tried too.

One set of 64 contaminated images per subject, which is the data under "same noise" and never met
under "new noise", is reconstructed with `clean`; the error is against the images before
contamination, shadows and all. OL-Wang runs in batches of 10.

The section of the paper is called shadow removal. What a face is without its shadows is known only
roughly: the median of the subject's 64 images, as bright as the image in question (the 75th
percentile of the ratios of its pixels). A pixel below 0.3 of that lies in shadow. Measured is the
mean brightness of these pixels after cleaning, as a share of the face without shadows: 0.13 means
that nothing was removed, 1 that all was. Beside 40 atoms, 1, 3 and 10 are tried, and with 40 atoms
the other two thresholds.

Subjects 1 to 4, noise of one seed. Leaves ``results/004-6.png`` and ``results/004-6.json``.
"""

from __future__ import annotations

from itertools import islice
from time import perf_counter

import numpy as np
from baselines import component_pursuit, huber_weights, online_wang, weighted_mu
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

from atomstream import OnlineNMF
from atomstream.losses import Huber

SUBJECTS, N_ATOMS, N_COPIES, BATCH = (1, 2, 3, 4), 40, 60, 64
DELTA = 15.0
STREAMS = ("new noise", "same noise")
METHODS = ("squared", "Huber", "Huber, spsg", "Huber, batch", "OL-Wang")
OTHERS = {f"Huber, {n} atoms": (n, DELTA) for n in (1, 3, 10)} | {  # might leave the shadows out
    f"Huber, threshold {delta:g}": (N_ATOMS, delta) for delta in (5.0, 45.0)
}
SHOWN = (0, 20, 35)  # images of each subject in the picture


def contaminate(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return images with noise on 30 % of their pixels."""
    hit = rng.random(images.shape) < 0.3
    return np.clip(images + hit * rng.uniform(-255, 255, images.shape), 0, 255)


def stream(clean: np.ndarray, seen: np.ndarray, noise: str, rng: np.random.Generator) -> np.ndarray:
    """Return the copies; ``fit`` puts them into random order."""
    if noise == "same noise":
        return np.tile(seen, (N_COPIES, 1))
    return contaminate(np.tile(clean, (N_COPIES, 1)), rng)


def online(X: np.ndarray, loss, n_atoms: int = N_ATOMS, **settings) -> tuple[OnlineNMF, float]:
    """Return (model after one pass, seconds)."""
    model = OnlineNMF(n_atoms, loss=loss, batch_size=BATCH, n_epochs=1, random_state=0, **settings)
    start = perf_counter()
    model.fit(X)
    return model, perf_counter() - start


def batch(X: np.ndarray, n_iter: int) -> tuple[OnlineNMF, float]:
    """Return (model that holds the atoms of the batch algorithm, seconds)."""
    start = perf_counter()
    atoms = weighted_mu(X, N_ATOMS, huber_weights(DELTA), n_iter)[1]
    return holder(atoms), perf_counter() - start


def wang(X: np.ndarray) -> tuple[OnlineNMF, float]:
    """Return (model that holds the atoms of OL-Wang after one pass, seconds)."""
    start = perf_counter()
    rows = X[np.random.default_rng(0).permutation(len(X))]
    atoms = next(islice(online_wang(rows, N_ATOMS, delta=DELTA), len(X) // 10 - 1, None))
    return holder(atoms), perf_counter() - start


def holder(atoms: np.ndarray) -> OnlineNMF:
    """Return a model that holds atoms, to code with."""
    atoms = np.maximum(atoms, 1e-9)
    return OnlineNMF.from_components(atoms / atoms.sum(axis=1, keepdims=True), loss=Huber(DELTA))


def learn(method: str, X: np.ndarray, noise: str) -> tuple[OnlineNMF, float]:
    """Return (model, seconds)."""
    if method in OTHERS:
        n_atoms, delta = OTHERS[method]
        return online(X, Huber(delta), n_atoms)
    if method == "squared":
        return online(X, "squared")
    if method == "Huber":
        return online(X, Huber(DELTA))
    if method == "Huber, spsg":
        return online(X, Huber(DELTA), updater="spsg")
    if method == "OL-Wang":
        return wang(X)
    return batch(X, 100) if noise == "new noise" else batch(X[:BATCH], 200)


def without_atoms(X: np.ndarray, seen: np.ndarray, clean: np.ndarray) -> dict[str, float]:
    """Return the errors of the rivals that learn no atoms."""
    pursued = [component_pursuit(seen, factor) for factor in (0.5, 1.0, 2.0)]
    lows = [error(low.clip(0, 255), clean) for low in pursued]
    median = np.median(X.reshape(N_COPIES, *clean.shape), axis=0)
    return {"median of the copies": error(median, clean), "robust PCA": min(lows)}


def in_shadow(clean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which pixels lie in shadow, and the faces without shadows, as bright as each image."""
    median = np.median(clean, axis=0)
    brightness = np.percentile(clean / np.maximum(median, 1), 75, axis=1, keepdims=True)
    unshadowed = np.minimum(brightness * median, 255)
    return (clean < 0.3 * unshadowed) & (unshadowed > 20), unshadowed


def share_removed(images: np.ndarray, clean: np.ndarray) -> float:
    """Return the mean brightness of shadowed pixels as a share of the face without shadows."""
    shadowed, unshadowed = in_shadow(clean)
    return float(images[shadowed].mean() / unshadowed[shadowed].mean())


def error(images: np.ndarray, clean: np.ndarray) -> float:
    """Return the root of the mean squared error, in grey levels."""
    return float(np.sqrt(np.mean((images - clean) ** 2)))


def study(clean: np.ndarray, subject: int) -> tuple[dict, dict[str, np.ndarray]]:
    """Return (numbers of one subject, pictures of its images in ``SHOWN`` under new noise)."""
    rng = np.random.default_rng([0, subject])
    seen = contaminate(clean, rng)
    pictures = {"original": clean[list(SHOWN)], "contaminated": seen[list(SHOWN)]}
    report: dict = {"contaminated": error(seen, clean), "shadows": share_removed(clean, clean)}
    for noise in STREAMS:
        X, report[noise] = stream(clean, seen, noise, rng), {}
        report[f"{noise}, without atoms"] = without_atoms(X, seen, clean)
        for method in (*METHODS, *OTHERS):
            model, seconds = learn(method, X, noise)
            cleaned = model.clean(seen)
            report[noise][method] = {
                "rmse": error(cleaned, clean),
                "huber_per_pixel": float(Huber(DELTA).entries(seen, cleaned).mean()),
                "shadows": share_removed(cleaned, clean),
                "seconds": seconds,
            }
            print(subject, noise, method, report[noise][method], flush=True)
            if noise == "new noise" and method in METHODS:
                pictures[method] = cleaned[list(SHOWN)]
            if noise == "new noise" and method == "Huber":
                pictures["outliers(X)"] = model.outliers(seen[list(SHOWN)])
    return report, pictures


def draw(pictures: dict[int, dict[str, np.ndarray]], means: dict[str, float]) -> Figure:
    """Draw a row of faces for each method, with its mean error under new noise."""
    rows = list(pictures[SUBJECTS[0]])
    rows = [row for row in rows if row != "outliers(X)"] + ["outliers(X)"]
    n_columns = len(SUBJECTS) * len(SHOWN)
    figure = Figure(figsize=(1.05 * n_columns + 1.9, 1.08 * len(rows) + 0.6), layout="constrained")
    grid = figure.subplots(len(rows), n_columns)
    for i, row in enumerate(rows):
        images = np.concatenate([pictures[subject][row] for subject in SUBJECTS])
        for axes, image in zip(grid[i], images, strict=True):
            axes.imshow(image.reshape(32, 32), cmap="gray", vmin=0, vmax=255)
            axes.set_xticks([])
            axes.set_yticks([])
        label = f"{row}\nRMSE {means[row]:.1f}" if row in means else row
        grid[i, 0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=11)
    for subject, axes in zip(SUBJECTS, grid[0, len(SHOWN) // 2 :: len(SHOWN)], strict=True):
        axes.set_title(f"subject {subject}", fontsize=11)
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.03, wspace=0, hspace=0)
    figure.suptitle(
        "30 % of the pixels contaminated, every copy anew; "
        "errors in grey levels, mean of four subjects"
    )
    return figure


def main() -> None:
    """Study every subject, draw the figure, write the numbers."""
    with np.load(DATA / "faces/yaleb_32x32.npz") as stored:
        images, subject_of = stored["images"].astype(float), stored["subject"]
    for loss in ("squared", Huber(DELTA)):
        online(images[:BATCH].reshape(BATCH, -1), loss)  # loads what would count as time to learn
    report, pictures = {}, {}
    for subject in SUBJECTS:
        clean = images[subject_of == subject].reshape(-1, 32 * 32)
        report[subject], pictures[subject] = study(clean, subject)
    means = {
        noise: {
            method: {
                key: float(np.mean([report[subject][noise][method][key] for subject in SUBJECTS]))
                for key in ("rmse", "huber_per_pixel", "shadows", "seconds")
            }
            for method in (*METHODS, *OTHERS)
        }
        for noise in STREAMS
    }
    without = {
        f"{noise}, without atoms": {
            rival: float(np.mean([report[s][f"{noise}, without atoms"][rival] for s in SUBJECTS]))
            for rival in ("median of the copies", "robust PCA")
        }
        for noise in STREAMS
    }
    contaminated, shadows = (
        float(np.mean([report[subject][key] for subject in SUBJECTS]))
        for key in ("contaminated", "shadows")
    )
    shown = {method: means["new noise"][method]["rmse"] for method in METHODS} | {
        "contaminated": contaminated
    }
    save_figure(draw(pictures, shown), "004-6", 100)
    numbers = {
        "brightness of shadows": shadows,
        "atoms": N_ATOMS,
        "copies": N_COPIES,
        "batch": BATCH,
        "delta": DELTA,
        "contaminated_rmse": contaminated,
    }
    save("004-6", numbers | {"mean_of_subjects": means, "subjects": report} | without)


if __name__ == "__main__":
    main()
