"""Experiment 004-7, protocol: faces as the paper times them, 96,000 images of one subject.

Zhao, Tan and Xu (2017), section VIII-F and Table VIII: the 64 contaminated images of a subject are
repeated p = 1500 times and permuted, for the batch method too; online methods make one pass. The
paper's seconds for its first subject: OL 67.9, OL-Wang 73.6, Batch 666.7; it does not say when
batch stops. Subject 1, the noise of `exp_004_6_faces`, K = 40, Huber with a threshold of 15.

Online: falling steps in units of the curvature (in the paper they are on raw
gradients; tau = 64, a = b = 2e4, codes by `coders.Multiplicative`) and the default method on all
96,000 images; OL-Wang on a fifteenth of them, its seconds times fifteen. Batch: all copies of an
image have nearly the same codes, so that rounds over 64 images lead where rounds over 96,000 lead;
the seconds of a round are measured on a fifteenth of the copies and multiplied.
Compared is the Huber loss of the 64 contaminated images, coded exactly, per pixel: the least of all
is not the best picture, since 40 atoms learn the noise of 64 images by heart. So the error against
the clean images stands beside it. Leaves ``results/004-7-protocol.json`` and
``results/004-7-protocol.png``.
"""

from __future__ import annotations

from itertools import islice
from time import process_time

import numpy as np
from baselines import huber_weights, online_wang, weighted_mu_steps
from exp_004_6_faces import BATCH, DELTA, N_ATOMS, contaminate, error, holder
from matplotlib.figure import Figure
from pictures import save_figure
from records import DATA, save

from atomstream import OnlineNMF
from atomstream.coders import Multiplicative
from atomstream.losses import Huber
from atomstream.updates import SubgradientStep

COPIES, PART, N_ROUNDS = 1500, 15, 1000
LOOKS = (1, 3, 10, 30, 100, 200, 300, 500, 1000)
ONLINE = {
    "online, falling steps": {"method": SubgradientStep(), "coder": Multiplicative()},
    "online, defaults": {},
}


def judged(model: OnlineNMF, seen: np.ndarray, clean: np.ndarray) -> dict[str, float]:
    """Return the Huber loss per pixel of the images seen, and the error against the clean ones."""
    made = model.clean(seen)
    return {"huber": float(Huber(DELTA).entries(seen, made).mean()), "rmse": error(made, clean)}


def online(stream: np.ndarray, settings: dict) -> tuple[OnlineNMF, float]:
    """Return (model after one pass, seconds)."""
    model = OnlineNMF(
        N_ATOMS, loss=Huber(DELTA), batch_size=BATCH, n_epochs=1, random_state=0, **settings
    )
    begin = process_time()
    return model.fit(stream), process_time() - begin


def wang(rows: np.ndarray) -> tuple[OnlineNMF, float]:
    """Return (model after one pass over some of the stream, seconds for all of it)."""
    begin = process_time()
    atoms = next(islice(online_wang(rows, N_ATOMS, delta=DELTA), len(rows) // 10 - 1, None))
    return holder(atoms), PART * (process_time() - begin)


def batch(seen: np.ndarray, clean: np.ndarray, rows: np.ndarray) -> dict:
    """Return the trail of the batch method, in seconds of rounds over all copies."""
    begin = process_time()
    next(islice(weighted_mu_steps(rows, N_ATOMS, huber_weights(DELTA)), 4, None))
    per_round = PART * (process_time() - begin) / 5
    trail = []
    steps = weighted_mu_steps(seen, N_ATOMS, huber_weights(DELTA))
    for number, (_, atoms) in enumerate(islice(steps, N_ROUNDS), start=1):
        if number in LOOKS:
            trail.append({"rounds": number, "seconds": number * per_round})
            trail[-1] |= judged(holder(atoms), seen, clean)
    return {"seconds per round": per_round, "trail": trail}


def main() -> None:
    """Time all methods on one subject, draw, write the numbers."""
    with np.load(DATA / "faces/yaleb_32x32.npz") as stored:
        clean = stored["images"][stored["subject"] == 1].astype(float).reshape(-1, 32 * 32)
    seen = contaminate(clean, np.random.default_rng([0, 1]))
    order = np.random.default_rng(0).permutation(COPIES * len(seen)) % len(seen)
    online(seen, {})  # loads what would count as time to learn
    numbers: dict = {"images": len(order), "contaminated rmse": error(seen, clean)}
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2)
    for name, settings in ONLINE.items():
        model, seconds = online(seen[order].astype(np.float32), settings)
        numbers[name] = {"seconds": seconds} | judged(model, seen, clean)
        print(name, numbers[name], flush=True)
    model, seconds = wang(seen[order[: len(order) // PART]])
    numbers["OL-Wang"] = {"seconds": seconds} | judged(model, seen, clean)
    print("OL-Wang", numbers["OL-Wang"], flush=True)
    numbers["batch"] = batch(seen, clean, seen[order[: len(order) // PART]])
    print("batch", numbers["batch"], flush=True)
    for axes, key in zip(panels, ("huber", "rmse"), strict=True):
        trail = numbers["batch"]["trail"]
        axes.plot([one["seconds"] for one in trail], [one[key] for one in trail], label="batch")
        for name in (*ONLINE, "OL-Wang"):
            axes.plot(numbers[name]["seconds"], numbers[name][key], "o", label=name)
        axes.set(xscale="log", xlabel="CPU seconds")
    panels[0].set_title("Huber loss per pixel, images seen")
    panels[1].set_title("error against clean images, grey levels")
    panels[0].legend(frameon=False)
    save_figure(figure, "004-7-protocol", 85)
    save("004-7-protocol", numbers)


if __name__ == "__main__":
    main()
