"""
On a cluster
============

Your data lie in many files, and several workers can read them. Does it matter for the atoms how
many workers there are? No: slots decide, workers do not. Here threads play the workers; give
``engine="processes"``, a Dask client or any Executor instead, and the atoms are the same to the
bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from atomstream import OnlineNMF, streams
from atomstream.cluster import Rounds, shards

photograph = load_sample_image("china.jpg").mean(axis=2) / 255
rng = np.random.default_rng(0)
patches = np.concatenate(list(streams.patches(photograph, 8, 4096, n_samples=36_864, rng=rng)))
patches, unseen = patches[:32_768], patches[32_768:]

folder = Path(tempfile.mkdtemp())
for number, part in enumerate(np.array_split(patches.astype(np.float32), 8)):
    np.save(folder / f"part-{number}.npy", part)

# %%
# A shard is a part of a file that a worker opens by itself. In each round every slot learns from
# some rows, and what the slots learned is merged.

rows = shards(str(folder / "*.npy"), rows=4096)
rounds = Rounds(warmup=2048, first=256, batch=128)


def learned(slots, engine):
    """Return a model that has learned from all shards."""
    model = OnlineNMF(49, alpha=0.02, random_state=0)
    return model.fit_stream(rows, slots=slots, rounds=rounds, engine=engine)


alone, several = learned(4, None), learned(4, "threads")
print("the same atoms:", np.array_equal(alone.components_, several.components_))

# %%
# More slots mean fewer merges for the same rows, and the error on rows that nobody saw grows with
# them. One worker that has as long a time is hard to beat: take slots when reading is slow, or
# when one machine is too slow for your rows.

counts = (1, 2, 4, 8, 16)
errors = [-learned(slots, "threads").score(unseen) for slots in counts]

# %%
# Errors against slots, and the atoms that four slots learned together.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(counts, np.array(errors) / errors[0], "o-")
left.set(xscale="log", xticks=counts, xlabel="slots", ylabel="error over that of one slot")
left.set_title("the number of slots does matter", fontsize=10)
left.set_xticks(counts, [str(count) for count in counts])
left.minorticks_off()
left.set_ylim(0.9, None)
left.grid(alpha=0.3)
order = several.importance_.argsort()[::-1]
tiles = several.components_[order].reshape(7, 7, 8, 8)
tiles = tiles / tiles.max(axis=(2, 3), keepdims=True)
right.imshow(
    np.pad(tiles, [(0, 0), (0, 0), (1, 0), (1, 0)], constant_values=0.3)
    .transpose(0, 2, 1, 3)
    .reshape(63, 63),
    cmap="gray_r",
)
right.set_title("four slots, one thread or more: the same atoms", fontsize=10)
right.axis("off")

plt.show()
