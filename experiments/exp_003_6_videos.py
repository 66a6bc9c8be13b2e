"""Experiments 003-6 and 003-7: what frames and pixels of a video teach, and a planted change.

Strohmeier (2023), section 3.5. The thesis's candle (80 x 30 pixels, 75 frames) is not at hand; a
flame is made that leans and shrinks with a memory of a few frames. 003-6: four atoms of its frames,
online from random atoms and in one pass, as they are after 1, 5, 7, 15, 35 and 75 frames (figures
3.3 and 3.4), beside scikit-learn's batch NMF. 003-7: five atoms of the courses of its pixels when
75 frames of uniform noise follow (figure 3.5); the change must be found to the frame, in 20 seeds
of flame, noise and learning, and no change in 150 frames of flame or of noise alone (150 seeds
each). Counted is also how many of the atoms move, ours and those of batch NMF. How `change_points`
chooses the length of its blocks was settled on flames of other seeds, and on autoregressive series.
Then the first 40 s of the mouse cortex video (1000 frames of 60 x 71 pixels, grey): eight spatial
and eight temporal atoms. Of it only curves are drawn: the rights of its pictures are not clear.
Leaves ``results/003-6.png``, ``003-7.png``, ``003-7-mouse.png`` and ``results/003-7.json``.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF

from atomstream import VideoDictionary, plots

HEIGHT, WIDTH, N_FRAMES, SEEDS, MORE_SEEDS = 80, 30, 75, range(1000, 1020), range(1000, 1150)
TIMES = (1, 5, 7, 15, 35, 75)


def flame(n_frames: int, seed: int) -> np.ndarray:
    """Return a flame that leans and shrinks with autocorrelations of 0.8 and 0.7, in [0, 1]."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    lean, size, frames = 0.0, 0.0, []
    for _ in range(n_frames):
        lean = 0.8 * lean + 0.6 * rng.standard_normal()
        size = 0.7 * size + 0.7 * rng.standard_normal()
        tall = 0.55 * HEIGHT * (1 + 0.1 * np.tanh(size))
        up = np.clip((0.9 * HEIGHT - y) / tall, 0, 1)  # 0 at the wick, 1 at the tip
        centre = WIDTH / 2 + 0.2 * WIDTH * np.tanh(lean) * up
        width = 0.32 * WIDTH * np.sqrt(up) * (1 - up) + 0.5
        frames.append(np.exp(-0.5 * ((x - centre) / width) ** 2) * ((up > 0) & (up < 1)))
    return np.array(frames)


def changes(video: np.ndarray, seed: int, n_atoms: int = 5) -> tuple[VideoDictionary, list[int]]:
    """Return the temporal atoms of a video, and the frames at which they change."""
    model = VideoDictionary(n_atoms, mode="pixels", random_state=seed).fit(video)
    return model, model.change_points().times.tolist()


def planted(seed: int) -> np.ndarray:
    """Return 75 frames of flame and 75 of noise."""
    noise = np.random.default_rng((seed, 1)).random((N_FRAMES, HEIGHT, WIDTH))
    return np.concatenate([flame(N_FRAMES, seed), noise])


def n_moved(courses: np.ndarray) -> int:
    """Return how many atoms vary three times as much on one side of the change as on the other."""
    before, after = courses[:, :N_FRAMES].std(axis=1), courses[:, N_FRAMES:].std(axis=1)
    return int((np.maximum(before, after) > 3 * np.minimum(before, after)).sum())


def moved_in_batch(video: np.ndarray, seed: int, n_atoms: int = 5) -> int:
    """Return how many atoms of batch NMF move at the change."""
    batch = NMF(n_atoms, init="nndsvda", random_state=seed, max_iter=2000)
    return n_moved(batch.fit(video.reshape(len(video), -1).T).components_)


def draw_spatial(video: np.ndarray, model: VideoDictionary, batch: np.ndarray) -> Figure:
    """Draw frames, the atoms at the snapshots below them, and batch atoms beside the last ones."""
    snapshots, n_atoms = np.asarray(model.snapshots_), len(batch)
    last = snapshots[-1].reshape(n_atoms, -1)
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (last, batch)]
    batch = batch[linear_sum_assignment(-unit[0] @ unit[1].T)[1]].reshape(snapshots[-1].shape)
    figure = Figure(figsize=(7.6, 10), layout="constrained")
    grid = figure.subplots(1 + n_atoms, len(TIMES) + 1)
    shown = np.s_[14:76]  # rows of pixels; the flame is never outside of them
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
    for column, (time, atoms) in enumerate(zip(TIMES, snapshots, strict=True)):
        grid[0, column].imshow(video[time - 1][shown], cmap="inferno", vmin=0, vmax=1)
        grid[0, column].set_title(f"frame {time}", fontsize=10)
        for axes, atom in zip(grid[1:, column], atoms, strict=True):
            axes.imshow(atom[shown], cmap="inferno", vmin=0)
    grid[0, -1].axis("off")
    grid[1, -1].set_title("batch NMF", fontsize=10)
    for axes, atom in zip(grid[1:, -1], batch, strict=True):
        axes.imshow(atom[shown], cmap="inferno", vmin=0)
    for number, axes in enumerate(grid[1:, 0], start=1):
        axes.set_ylabel(f"atom {number}")
    return figure


def spatial() -> dict:
    """Draw the atoms of a flame in time; return how well they and the batch method do."""
    video = flame(N_FRAMES, 0)
    model = VideoDictionary(4, init="random", snapshots=TIMES, random_state=0).fit(video)
    flat = video.reshape(N_FRAMES, -1)
    batch = NMF(4, init="random", random_state=0, max_iter=500)
    rebuilt = {
        "online": model.reconstruct(video),
        "batch": batch.inverse_transform(batch.fit_transform(flat)),
    }
    save_figure(draw_spatial(video, model, batch.components_), "003-6", 75)
    norm = np.linalg.norm(video)
    return {
        name: float(np.linalg.norm(part.reshape(video.shape) - video) / norm)
        for name, part in rebuilt.items()
    }


def mouse() -> dict:
    """Draw the temporal atoms of the mouse cortex; return seconds, relative errors and changes."""
    video = np.load(DATA / "mouse_cortex/frames_0000_0999.npz")["frames"]
    grey = (video @ np.array([0.299, 0.587, 0.114]) / 255).astype(np.float32)
    told, norm = {}, np.linalg.norm(grey)
    for mode in ("frames", "pixels"):
        start = perf_counter()
        model = VideoDictionary(8, mode=mode, random_state=0).fit(grey)
        seconds = perf_counter() - start
        error = float(np.linalg.norm(model.reconstruct(grey) - grey) / norm)
        told[mode] = {"seconds": seconds, "relative_error": error}
    still = float(np.linalg.norm(grey.mean(axis=0) - grey) / norm)
    found = model.change_points()
    save_figure(plots.temporal_atoms(model, found), "003-7-mouse", 70)
    return told | {
        "relative_error_of_the_mean_frame": still,
        "changes_of_temporal_atoms": found.times.tolist(),
    }


def main() -> None:
    """Learn, look for changes, draw, write the numbers."""
    numbers: dict = {"relative_error_of_the_flame": spatial()}
    found, alarms = [], {"flame": 0, "noise": 0}
    moved: dict[str, list[int]] = {"online": [], "batch NMF": []}
    for seed in SEEDS:
        video = planted(seed)
        model, times = changes(video, seed)
        found.append(times)
        moved["online"].append(n_moved(model.components_))
        moved["batch NMF"].append(moved_in_batch(video, seed))
        if seed == SEEDS[0]:
            save_figure(plots.temporal_atoms(model, model.change_points()), "003-7", 80)
    for seed in MORE_SEEDS:
        alarms["flame"] += bool(changes(flame(2 * N_FRAMES, seed), seed)[1])
        noise = np.random.default_rng((seed, 1)).random((2 * N_FRAMES, HEIGHT, WIDTH))
        alarms["noise"] += bool(changes(noise, seed)[1])
    numbers["planted_at"] = N_FRAMES
    numbers["seeds"] = len(SEEDS)
    numbers["found_within_a_frame"] = sum(
        any(abs(t - N_FRAMES) <= 1 for t in times) for times in found
    )
    numbers["nothing_else_found"] = sum(len(times) == 1 for times in found)
    numbers["changes_found"] = found
    numbers["atoms_that_move"] = moved
    numbers["false_alarms"] = alarms | {"of": len(MORE_SEEDS)}
    numbers["mouse_cortex"] = mouse()
    save("003-7", numbers)


if __name__ == "__main__":
    main()
