"""
Mutational signatures
=====================

Which processes have damaged the DNA of these tumours? You have the numbers of mutations by channel
in many samples, and every sample is the sum of a few signatures. The counts of this example are
made by the script, so that you can compare what is found with the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import extract_signatures, plots, signatures

rng = np.random.default_rng(1)
classes = ("C>A", "C>G", "C>T", "T>A", "T>C", "T>G")
channels = [f"{a}[{m}]{b}" for m in classes for a in "ACGT" for b in "ACGT"]
n_samples, names = 120, ["tobacco", "sunlight", "age"]
truth = rng.dirichlet(np.full(96, 0.25), 3)
exposures = rng.gamma(0.6, 3000, (n_samples, 3)) + 50
samples = [f"tumour {number}" for number in range(n_samples)]
mutations = signatures.ChannelTable(rng.poisson(exposures @ truth), samples, channels)
known = signatures.ChannelTable(truth, names, channels)

# %%
# How many signatures are there? Bootstraps of the samples are learned with each number, and only
# signatures that come back in most of them count.

model = extract_signatures(mutations, range(1, 6), n_replicates=12, random_state=0)
print(model.choice_.reason)

# %%
# Which known signatures are they, one to one?

found = signatures.de_novo(model, channels)
for pair in signatures.match(found, known):
    print(f"{pair.name} is {pair.known}: cosine {pair.cosine:.3f}")

# %%
# How many mutations of each sample does a signature explain? Few signatures are fitted to each.

fitted = signatures.refit(mutations, known)
error = np.abs(fitted.values - exposures).sum() / exposures.sum()
print(f"relative error of the exposures: {error:.3f}")

# %%
# The profiles in the six colours of the field, with intervals over the bootstraps.

figure = plots.mutation_profiles(found, intervals=model.intervals_)

plt.show()
