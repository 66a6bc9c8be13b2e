"""
Gene programs of single cells
=============================

Which genes are switched on together? You have counts of genes in cells, and every cell runs a
mixture of programs. The counts of this example are made by the script, so that you can compare
what is found with the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import ConsensusNMF, align

rng = np.random.default_rng(0)
n_cells, n_genes, n_programs = 1500, 120, 6
programs = rng.gamma(0.3, 1.0, (n_programs, n_genes))
usage = rng.gamma(0.5, 1.0, (n_cells, n_programs))
counts = rng.poisson(3 * usage @ programs).astype(float)
X = counts / counts.std(axis=0)

# %%
# How many programs are there? Many replicates of each number are learned, from other cells each,
# and only programs that come back count.

model = ConsensusNMF(range(3, 9), n_replicates=10, n_epochs=3, random_state=0).fit(X)
print(model.choice_.reason)

# %%
# Rows are programs and columns are genes, sorted by the program that uses them most.

truth = programs / counts.std(axis=0)
found = align(truth, model.components_)
order = np.lexsort((-truth.max(axis=0), truth.argmax(axis=0)))
figure, axes = plt.subplots(2, 1, figsize=(8, 4.4), layout="constrained", sharex=True)
learned = model.components_[found.order]
for axis, title, rows in zip(axes, ("truth", "found"), (truth, learned), strict=True):
    shares = rows / rows.max(axis=1, keepdims=True)
    axis.imshow(shares[:, order], aspect="auto", cmap="magma", interpolation="nearest")
    axis.set(title=title, ylabel="program", yticks=range(len(rows)))
axes[1].set_xlabel("gene")

plt.show()
