"""
Code in many processes
======================

Learning is quick, but you have to code far more data than you learn from. How do you spread that
over processes or machines? A saved model is one file. Every worker loads it and codes its share,
and the codes are those of one process, to the bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_sample_image

import atomstream
from atomstream import OnlineNMF, streams

photograph = load_sample_image("flower.jpg").mean(axis=2) / 255
patches = streams.patches(photograph, 8, 256, n_samples=20_000, rng=np.random.default_rng(0))
model = OnlineNMF(32, random_state=0).fit_stream(patches)
path = Path(tempfile.mkdtemp()) / "model.atoms"
atomstream.save(model, path)

# %%
# Each worker gets the path of the file and a strip of the photograph.


def detail(path, strip):
    """Return how much of the code of each patch is not in the most important atom, the shade."""
    model = atomstream.load(path)
    codes = model.transform(np.concatenate(list(streams.patches(strip, 8, stride=4))))
    codes[:, model.importance_.argmax()] = 0
    return codes.sum(axis=1).reshape((strip.shape[0] - 8) // 4 + 1, -1)


strips = [photograph[top : top + 104] for top in range(0, 400, 100)]
parallel = Parallel(n_jobs=2)(delayed(detail)(path, strip) for strip in strips)
alone = [detail(path, strip) for strip in strips]
print("the same:", all(np.array_equal(a, b) for a, b in zip(parallel, alone, strict=True)))

# %%
# Where the photograph is more than a shade: four strips, coded by two processes.

figure, axes = plt.subplots(4, 2, figsize=(9, 3.8), layout="constrained")
high = max(part.max() for part in parallel)
for number, (pair, strip, part) in enumerate(zip(axes, strips, parallel, strict=True), 1):
    pair[0].imshow(strip, cmap="gray", vmin=0, vmax=1)
    pair[1].imshow(part, cmap="magma", vmin=0, vmax=high)
    pair[0].set_ylabel(f"strip {number}")
    for axis in pair:
        axis.set(xticks=[], yticks=[])
axes[0, 0].set_title("what goes to a process")
axes[0, 1].set_title("what comes back: detail from the codes")

plt.show()
