"""
How many atoms?
===============

Five, ten or twenty? More atoms always fit better what they have seen. So entries are hidden and
predicted, and atoms are learned again from other rows: good atoms predict, and they come back.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import ConsensusNMF, plots

rng = np.random.default_rng(0)
parts = rng.random((5, 40)) * (rng.random((5, 40)) < 0.4)
X = rng.exponential(size=(600, 5)) @ parts + 0.3 * rng.random((600, 40))

# %%
# Ten replicates of each number learn from one reading of the data.

model = ConsensusNMF(range(2, 10), n_replicates=10, random_state=0).fit(X)
print(model.n_components_, model.choice_.reason)

# %%
# Cosines between all atoms of all replicates: five blocks, so five atoms that return.

figure = plots.clustergram(model)

# %%
# The error on hidden entries stops falling at five. From there on the stability falls.

figure = plots.rank(model.choice_)

# sphinx_gallery_thumbnail_number = 2
plt.show()
