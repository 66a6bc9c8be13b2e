"""Experiments 000-3 and 000-4: dictionaries along Gibbs samples of the Ising model.

Lyu, Needell and Balzano (2020), section 5.2, Figs. 4 to 7: a 200 x 200 lattice, 5 million
single-site steps from random spins, a frame every 10,000 steps (500 frames), 20 x 20 patches, 100
atoms. The paper takes all 32,761 patches of a frame as a batch; here a batch is 1,000 of them,
drawn at random. Spins are mapped to 0 and 1 for learning and reconstruction alike: nonnegative
factors cannot hold -1. The last frame is rebuilt from patches 5 pixels apart; the error is relative
to the frame with its mean taken off, so that frames of one colour are not easier.

Leaves ``results/000-3.png`` and ``results/000-3.json``.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from pictures import save_figure
from records import save

from atomstream import OnlineNMF, images, plots
from atomstream.samplers import IsingGibbs
from atomstream.streams import patches
from atomstream.watch.diagnostics import mcmc_diagnostics

SHAPE, TEMPERATURES, SIZE, N_ATOMS = (200, 200), (0.5, 2.26, 5.0), 20, 100
N_FRAMES, THIN, PER_FRAME = 500, 10_000, 1000


def study(temperature: float) -> tuple[np.ndarray, OnlineNMF, np.ndarray, dict[str, float]]:
    """Return (last frame, model, its reconstruction, numbers) at one temperature."""
    rng = np.random.default_rng(0)
    chain = IsingGibbs(SHAPE, temperature=temperature)
    state, model = chain.init(rng), OnlineNMF(N_ATOMS, random_state=0)
    energies, sampling, learning = [], 0.0, 0.0
    for _ in range(N_FRAMES):
        begin = perf_counter()
        frames, state = chain.run(rng, state, 1, THIN)
        sampling, begin = sampling + perf_counter() - begin, perf_counter()
        frame = (frames[0] + 1) / 2
        model.fit_stream(patches(frame, SIZE, n_samples=PER_FRAME, batch_size=PER_FRAME, rng=rng))
        learning += perf_counter() - begin
        spins = frames[0].astype(int)
        energies.append(-((spins[1:] * spins[:-1]).mean() + (spins[:, 1:] * spins[:, :-1]).mean()))
    rebuilt = images.reconstruct(model, frame, SIZE, stride=5)
    spread = frame - frame.mean()
    dependence = mcmc_diagnostics(energies[N_FRAMES // 5 :])
    numbers = {
        "relative_error": float(np.linalg.norm(rebuilt - frame) / np.linalg.norm(spread)),
        "root_mean_squared_error": float(np.sqrt(np.mean((rebuilt - frame) ** 2))),
        "spins_right": float(((rebuilt > 0.5) == (frame > 0.5)).mean()),
        "energy_per_site": float(np.mean(energies[N_FRAMES // 5 :])),
        "autocorrelation_time_of_the_energy_in_frames": dependence.autocorrelation_time,
        "trustworthy": dependence.trustworthy,
        "seconds_sampling": sampling,
        "seconds_learning": learning,
    }
    return frame, model, rebuilt, numbers


def main() -> None:
    """Study all temperatures, draw the figure, write the numbers."""
    found = [study(temperature) for temperature in TEMPERATURES]
    frames, models, rebuilt, numbers = zip(*found, strict=True)
    titles = [
        f"T = {temperature}: relative error {told['relative_error']:.2f}"
        for temperature, told in zip(TEMPERATURES, numbers, strict=True)
    ]
    save_figure(plots.spins(frames, models, rebuilt, (SIZE, SIZE), titles=titles), "000-3", 90)
    report = dict(zip(map(str, TEMPERATURES), numbers, strict=True))
    save("000-3", report)


if __name__ == "__main__":
    main()
