"""Experiment 004-7, protocol: faces as the paper times them, 96,000 images of one subject.

Zhao, Tan and Xu (2017), section VIII-F and Table VIII: the 64 contaminated images of a subject are
repeated p = 1500 times and permuted, for the batch method too; online methods make one pass. The
paper's seconds for its first subject: OL 67.9, OL-Wang 73.6, Batch 666.7; it does not say when
batch stops. Subject 1, the noise of `exp_004_6_faces`, K = 40, Huber with a threshold of 15.

Online: falling steps in units of the curvature (in the paper they are on raw
gradients; tau = 64, a = b = 2e4, codes by `coders.Multiplicative`), the default method, and
OL-Wang. Batch: 200 rounds over all copies. Where it goes after these, 1,000 rounds over the 64
images tell roughly, at the seconds of rounds over all. Compared is the Huber loss of the 64
contaminated images, coded exactly, per pixel: the least of all is not the best picture, since 40
atoms learn the noise of 64 images by heart. So the error against the clean images stands beside it,
and how bright shadows are (`exp_004_6_faces.share_removed`).

Subject 2 has the same passes (the paper: 64.4, 88.2 and 512.5 s); to save a quarter of an hour,
batch over all copies makes ten rounds there, which tell the seconds of a round, and only the rounds
over the 64 images tell where it goes. Leaves ``results/004-7-protocol.json`` and ``.png`` (subject
1) and ``results/004-7-subject-2.json``; the number of a subject as an argument runs that one only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import process_time

import numpy as np
from baselines import huber_weights, weighted_mu_steps
from exp_004_6_faces import BATCH, DELTA, N_ATOMS, contaminate, error, holder, share_removed, wang
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.losses import Huber
from atomstream.updates import SubgradientStep

COPIES, N_ROUNDS = 1500, 1000
SUBJECTS = {1: ("004-7-protocol", 200), 2: ("004-7-subject-2", 10)}  # record, rounds over all
LOOKS = (1, 3, 10, 30, 60, 100, 150, 200, 300, 500, 1000)
ONLINE = {
    "online, falling steps": {"updater": SubgradientStep(), "coder": Multiplicative()},
    "online, defaults": {},
}


def judged(model: OnlineNMF, seen: np.ndarray, clean: np.ndarray) -> dict[str, float]:
    """Return the Huber loss per pixel of the images seen, the error, and how bright shadows are."""
    made = model.clean(seen)
    return {
        "huber": float(Huber(DELTA).entries(seen, made).mean()),
        "rmse": error(made, clean),
        "shadows": share_removed(made, clean),
    }


def online(stream: np.ndarray, settings: dict) -> tuple[OnlineNMF, float]:
    """Return (model after one pass, seconds)."""
    model = OnlineNMF(
        N_ATOMS, loss=Huber(DELTA), batch_size=BATCH, n_epochs=1, random_state=0, **settings
    )
    begin = process_time()
    return model.fit(stream), process_time() - begin


def batch(rows: np.ndarray, n_rounds: int) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield (round, CPU seconds so far, atoms) of the batch method at some of its rounds."""
    steps, spent = weighted_mu_steps(rows, N_ATOMS, huber_weights(DELTA)), 0.0
    for number in range(1, n_rounds + 1):
        begin = process_time()
        _, atoms = next(steps)
        spent += process_time() - begin
        if number in LOOKS:
            yield number, spent, atoms


def study(subject: int, n_on_all: int) -> dict:
    """Return the figures of all methods on one subject."""
    with np.load(DATA / "faces/yaleb_32x32.npz") as stored:
        clean = stored["images"][stored["subject"] == subject].astype(float).reshape(-1, 32 * 32)
    seen = contaminate(clean, np.random.default_rng([0, subject]))
    order = np.random.default_rng(0).permutation(COPIES * len(seen)) % len(seen)
    online(seen, {})  # loads what would count as time to learn
    numbers: dict = {"images": len(order), "contaminated rmse": error(seen, clean)}
    stream = seen[order]
    for name, settings in ONLINE.items():
        model, seconds = online(stream.astype(np.float32), settings)
        numbers[name] = {"seconds": seconds} | judged(model, seen, clean)
        print(name, numbers[name], flush=True)
    begin = process_time()
    model, _ = wang(stream)
    numbers["OL-Wang"] = {"seconds": process_time() - begin} | judged(model, seen, clean)
    print("OL-Wang", numbers["OL-Wang"], flush=True)
    for name, rows, n_rounds in (("all", stream, n_on_all), ("64", seen, N_ROUNDS)):
        numbers[f"batch on {name}"] = trail = []
        for number, seconds, atoms in batch(rows, n_rounds):
            trail.append({"rounds": number, "seconds": seconds})
            trail[-1] |= judged(holder(atoms), seen, clean)
            print(f"batch on {name}", trail[-1], flush=True)
    per_round = numbers["batch on all"][-1]["seconds"] / n_on_all
    for one in trail:
        one["seconds on all"] = one["rounds"] * per_round
    return numbers


def draw(numbers: dict) -> Figure:
    """Draw loss and error against processor time."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, key in zip(panels, ("huber", "rmse"), strict=True):
        for name, clock, style in (("all", "seconds", "-"), ("64", "seconds on all", ":")):
            trail = numbers[f"batch on {name}"]
            points = [one[clock] for one in trail], [one[key] for one in trail]
            axes.plot(*points, style, color="C0", label=f"batch on {name} images")
        for name in (*ONLINE, "OL-Wang"):
            axes.plot(numbers[name]["seconds"], numbers[name][key], "o", label=name)
        axes.set(xscale="log", xlabel="CPU seconds")
    panels[0].set_title("Huber loss per pixel, images seen")
    panels[1].set_title("error against clean images, grey levels")
    panels[0].legend(frameon=False)
    return figure


def main() -> None:
    """Time all methods on each subject, draw the first, write the numbers."""
    for subject in map(int, sys.argv[1:] or SUBJECTS):
        record, n_on_all = SUBJECTS[subject]
        numbers = study(subject, n_on_all)
        save(record, numbers)
        if subject == 1:
            save_figure(draw(numbers), record, 85)


if __name__ == "__main__":
    main()
