"""
Sensors that drift
==================

When did the plant change, and which sensors are concerned? A watch over the loss of the batches
gives an alarm, with a known rate of false ones. It names the features. The
adaptive schedule lets the model forget what came before.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineNMF
from atomstream.watch.callbacks import History
from atomstream.watch.changes import ChangeWatch

rng = np.random.default_rng(0)
before, after = rng.random((5, 24)), rng.random((5, 24))
after[:, :16] = before[:, :16]  # sensors 16 to 23 change, the others do not


def stream():
    """Yield batches of 64 rows; the plant changes after 300 batches."""
    for number in range(600):
        parts = before if number < 300 else after
        yield rng.exponential(size=(64, 5)) @ parts + 0.05 * rng.random((64, 24))


# %%
# The watch is a callback, and each of its detectors is a :class:`atomstream.drift.DriftDetector`.
# It watches, and leaves the model alone.

watch, plain = ChangeWatch(), History()
OnlineNMF(5, random_state=0).set_callbacks(watch, plain).fit_stream(stream())
change = watch.found[0]
print(f"alarm after {change.n_samples // 64} batches, began after {change.began // 64}")
print("errors rose most in sensors", [part.name for part in change.features[:6]])

# %%
# The model still averages over the past, with the weights of :class:`atomstream.schedules.Power`,
# and recovers slowly. With ``schedule="adaptive"`` it remembers all while nothing changes, and goes
# on from the newest batches alone after a change.

rng = np.random.default_rng(0)
rng.random((2, 5, 24))
adaptive = History()
model = OnlineNMF(5, schedule="adaptive", random_state=0)
model.set_callbacks(adaptive).fit_stream(stream())

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
for record, label in ((plain, "default schedule"), (adaptive, "adaptive schedule")):
    axis.semilogy(np.array(record.n_samples) / 64, record.objective, label=label, linewidth=1)
axis.axvline(change.n_samples / 64, color="black", linestyle="--", label="alarm")
axis.set(xlabel="batch", ylabel="loss of the batch", xlim=(200, 600))
axis.legend()

plt.show()
