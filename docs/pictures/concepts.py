"""Draw the pictures of docs/concepts.md.

``python docs/pictures/concepts.py`` writes concept-*.png into this folder.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from atomstream import OnlineNMF, schedules

HERE = Path(__file__).parent


def save(figure, name):
    """Save a picture beside this script."""
    figure.savefig(HERE / f"concept-{name}.png", dpi=100, pil_kwargs={"optimize": True})


def draw_atom():
    """Draw a digit as a sum of a few atoms, each times a number, and its code."""
    digits = load_digits().data / 16
    model = OnlineNMF(24, alpha=0.05, random_state=0).fit(digits)
    codes = model.transform(digits)
    few = (codes > 0).sum(axis=1) <= 7
    row = np.argmax(np.where(few, np.sort(codes, axis=1)[:, -4], 0))  # its fourth atom counts too
    code, rebuilt = codes[row], model.inverse_transform(codes[row : row + 1])[0]
    parts = np.argsort(-code)[:5]
    pictures = [digits[row], rebuilt, *(code[parts, None] * model.components_[parts])]
    titles = ["a sample", "its reconstruction"]
    titles += [f"{code[part]:.2f} x atom {part}" for part in parts]
    figure, axes = plt.subplots(1, 7, figsize=(11, 1.9), layout="constrained")
    signs = ["≈", "=", "+", "+", "+", "+", ""]
    for axis, picture, title, sign in zip(axes, pictures, titles, signs, strict=True):
        axis.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
        axis.set_title(title, fontsize=10)
        axis.set(xticks=[], yticks=[])
        axis.text(1.05, 0.5, sign, transform=axis.transAxes, fontsize=14, va="center")
    save(figure, "atom")
    figure, axis = plt.subplots(figsize=(10, 2.2), layout="constrained")
    axis.bar(range(len(code)), code)
    axis.set(xlabel="atom", ylabel="amount", xlim=(-1, len(code)))
    axis.set_title(
        f"the code of the sample: {(code > 0).sum()} of {len(code)} numbers are not zero"
    )
    save(figure, "code")


def draw_memory():
    """Draw how much the model keeps, and how much has passed."""
    rng = np.random.default_rng(0)
    parts = rng.random((10, 100))
    model, passed, kept = OnlineNMF(10, random_state=0), [], []
    for _ in range(400):
        model.partial_fit(rng.exponential(size=(256, 10)) @ parts)
        memory = model.memory_
        passed.append(8 * 100 * model.n_samples_seen_)
        kept.append(memory.gram.nbytes + memory.cross.nbytes + model.components_.nbytes)
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    axis.loglog(np.arange(1, 401) * 256, passed, label="data that have passed")
    axis.loglog(np.arange(1, 401) * 256, kept, label="atoms and memory")
    axis.set(xlabel="samples", ylabel="bytes")
    axis.legend()
    save(figure, "memory")


def draw_forgetting():
    """Draw how much each sample of the past weighs, for three schedules."""
    n_steps = 200
    laws = {
        "Harmonic(): all alike": schedules.Harmonic(),
        "Power(8), the default: mostly the last eighth": schedules.Power(8.0),
        "Constant(half_life=8): the last 8 or so": schedules.Constant(half_life=8),
    }
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    for label, law in laws.items():
        influence = np.zeros(n_steps)
        for step in range(1, n_steps + 1):
            weight = law(step, 1.0, float(step))
            influence *= 1 - weight
            influence[step - 1] = weight
        axis.plot(np.arange(1, n_steps + 1), influence, label=label)
    axis.set(
        xlabel="place of the sample in the stream; the newest is on the right", ylabel="weight"
    )
    axis.legend()
    save(figure, "forgetting")


def draw_dependence():
    """Draw independent samples, and those of a chain with the same distribution."""
    rng = np.random.default_rng(0)
    free = rng.standard_normal(400)
    chain = np.empty(400)
    chain[0] = free[0]
    for t in range(1, 400):
        chain[t] = 0.95 * chain[t - 1] + np.sqrt(1 - 0.95**2) * free[t]
    figure, axes = plt.subplots(
        2, 1, figsize=(8, 3.6), layout="constrained", sharex=True, sharey=True
    )
    titles = ("independent samples", "samples that depend on the one before: the mean lags behind")
    for axis, values, title in zip(axes, (free, chain), titles, strict=True):
        axis.plot(values, ".", markersize=3, color="0.6")
        axis.plot(np.cumsum(values) / np.arange(1, 401), color="C1", label="mean so far")
        axis.axhline(0, color="black", linewidth=0.6)
        axis.set_title(title, fontsize=10)
    axes[0].legend(loc="upper right")
    axes[1].set_xlabel("time")
    save(figure, "dependence")


def main():
    """Draw all of them."""
    draw_atom()
    draw_memory()
    draw_forgetting()
    draw_dependence()


if __name__ == "__main__":
    main()
