"""Experiment 003-13: spatial and temporal activation in a video of a mouse's cortex.

Strohmeier (2023), section 4.8.3 and Fig. 4.4: 200 clips of 50 frames (2 s) with random starts, as
tensors time x (height, width, colour), 20 atoms, w = 1/t, lambda = 2, c' = 10^5. Colour values lie
in [0, 1], and alpha = lambda / 2 = 1 in our halved objective. The video is the first 40 s of the
thesis's 60 s, in blocks of 6 x 6 pixels; it shows activity in false colours, rest in blue, so rest
takes atoms as well. Batches of 4 clips.

The error is told on 20 further clips (of the same 40 s, so they overlap with what was learned),
beside those of the mean frame of the video and of the mean frame of each clip, which do not move,
and of two rivals with as many atoms, which are not products of a curve and a picture: the principal
components of the clips learned from, signed and after the mean clip, and clips drawn from them
(three draws) with nonnegative codes and no penalty.
An atom counts as localised if red and green together exceed half of their largest value on a tenth
of the pixels at most; peaks of its curve rise by a third of the curve's largest value or more.
The rights of the video are not clear, so neither its frames nor the atoms in space, which look like
them, are drawn: only curves and numbers. Leaves ``results/003-13.png`` and
``results/003-13.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from scipy.signal import find_peaks
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from atomstream import OnlineCPDictionary, plots, sparse_encode
from atomstream.updates import LoadingSweep

LENGTH, N_CLIPS, N_TEST, BATCH, N_ATOMS, ALPHA, RADIUS = 50, 200, 20, 4, 20, 1.0, 1e5


def clips(frames: np.ndarray, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield batches of clips with random starts."""
    starts = rng.integers(len(frames) - LENGTH + 1, size=n)
    for place in range(0, n, BATCH):
        yield np.stack([frames[start : start + LENGTH] for start in starts[place : place + BATCH]])


def learn(frames: np.ndarray, rng: np.random.Generator) -> tuple[OnlineCPDictionary, float]:
    """Return (the dictionary, CPU seconds)."""
    model = OnlineCPDictionary(
        N_ATOMS,
        alpha=ALPHA,
        updater=LoadingSweep(radius=RADIUS),
        reshape=[(0,), (1, 2, 3)],
        random_state=0,
    )
    begin = process_time()
    model.fit_stream(clips(frames, N_CLIPS, rng), n_batches=N_CLIPS // BATCH)
    return model, process_time() - begin


def describe(model: OnlineCPDictionary, fps: float) -> list[dict[str, Any]]:
    """Return, for each atom, its share, where it is bright, and when its curve peaks."""
    (curves, pictures), shares = plots.loadings_data(model, N_ATOMS)
    told = []
    for curve, picture, share in zip(curves, pictures, shares, strict=True):
        warm = picture[:, :, :2].sum(axis=2)
        padded = np.concatenate([[0.0], curve, [0.0]])  # a peak at an end is a peak
        peaks = find_peaks(padded, prominence=curve.max() / 3)[0] - 1
        told.append(
            {
                "share": round(float(share), 4),
                "bright_pixels": round(float((warm > warm.max() / 2).mean()), 3),
                "peaks_at_seconds": [round(float(peak / fps), 2) for peak in peaks],
            }
        )
    return told


def error(approximation: np.ndarray, X: np.ndarray) -> float:
    """Return the relative error."""
    return round(float(np.linalg.norm(approximation - X) / np.linalg.norm(X)), 4)


def rivals(learned: np.ndarray, X: np.ndarray) -> dict[str, float]:
    """Return errors of as many principal components, and of as many drawn clips."""
    learned, rows = learned.reshape(len(learned), -1), X.reshape(len(X), -1)
    axes = PCA(N_ATOMS, svd_solver="arpack", random_state=0).fit(learned)
    drawn = []
    for seed in range(3):
        picked = np.random.default_rng(seed).choice(len(learned), N_ATOMS, replace=False)
        codes = sparse_encode(rows, learned[picked])
        drawn.append(error(codes @ learned[picked], rows))
    return {
        "relative_error_of_principal_components": error(
            axes.inverse_transform(axes.transform(rows)), rows
        ),
        "relative_error_of_drawn_clips": round(float(np.mean(drawn)), 4),
    }


def draw(curves: np.ndarray, report: dict[str, Any], fps: float) -> Figure:
    """Draw the atoms in time, the area that each lights up, and the errors."""
    atoms, n_atoms = report["atoms"], len(curves)
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(10, 5), width_ratios=(3, 1, 1.6), layout="constrained"
    )
    seconds, places = np.arange(LENGTH) / fps, np.arange(n_atoms)[::-1]
    for place, curve in zip(places, curves, strict=True):
        left.fill_between(seconds, place, place + 0.85 * curve / curve.max(), alpha=0.3, lw=0)
        left.plot(seconds, place + 0.85 * curve / curve.max(), color="black", linewidth=0.8)
    left.set_yticks(places, [f"{100 * atom['share']:.1f} %" for atom in atoms], fontsize=7)
    left.set(xlabel="seconds", ylabel="share of the codes", title="atoms in time", xlim=(0, None))
    middle.barh(places + 0.4, [100 * atom["bright_pixels"] for atom in atoms], color="0.6")
    middle.axvline(10, color="black", linestyle="--", linewidth=0.8)
    middle.set_ylim(left.get_ylim())
    middle.set(yticks=[], xlabel="% of the pixels", title="bright area")
    errors = {
        "20 components": report["relative_error_of_principal_components"],
        "20 drawn clips": report["relative_error_of_drawn_clips"],
        "20 atoms": report["relative_error"],
        "mean frame of each clip": report["relative_error_of_mean_frame_of_each_clip"],
        "mean frame of the video": report["relative_error_of_mean_frame"],
    }
    right.bar(list(errors), list(errors.values()), color=["0.6", "0.6", "tab:blue", "0.6", "0.6"])
    right.set(title="relative error, other clips")
    right.tick_params(axis="x", labelsize=8, rotation=90)
    return figure


def main() -> None:
    """Learn from clips, judge on others, draw, write the numbers."""
    with np.load(DATA / "mouse_cortex/frames_0000_0999.npz") as stored:
        frames, fps = stored["frames"].astype(np.float32) / 255, float(stored["fps"])
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        model, seconds = learn(frames, rng)
        X = np.concatenate(list(clips(frames, N_TEST, rng)))
        codes = model.transform(X)
        atoms = describe(model, fps)
        report = {
            "clips": N_CLIPS,
            "alpha": ALPHA,
            "clock": "process time of one thread; other work on the machine slows it a little",
            "cpu_seconds": round(seconds, 2),
            "relative_error": error(model.inverse_transform(codes), X),
            "relative_error_of_mean_frame": error(frames.mean(axis=0), X),
            "relative_error_of_mean_frame_of_each_clip": error(X.mean(axis=1, keepdims=True), X),
            **rivals(np.concatenate(list(clips(frames, N_CLIPS, np.random.default_rng(0)))), X),
            "share_of_zero_codes": round(float((codes == 0).mean()), 4),
            "localised_atoms": sum(atom["bright_pixels"] <= 0.1 for atom in atoms),
            "atoms_with_several_peaks": sum(len(atom["peaks_at_seconds"]) > 1 for atom in atoms),
        }
    report["atoms"] = atoms
    save("003-13", report)
    (curves, _), _ = plots.loadings_data(model, N_ATOMS)
    save_figure(draw(curves, report, fps), "003-13", 85)


if __name__ == "__main__":
    main()
