"""
The notes of a melody
=====================

Which notes are played, and when? A spectrogram is a stream of short spectra. Their powers go over
many decades, and the ear hears ratios; the Itakura-Saito loss compares ratios. The melody is
synthesised by the script.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import stft

from atomstream import OnlineNMF

rate, beat = 8000, 0.3
NOTES = {"C": 261.6, "D": 293.7, "E": 329.6, "F": 349.2, "G": 392.0, "A": 440.0}
melody = "CCGGAAG FFEEDDC GGFFEED GGFFEED CCGGAAG FFEEDDC".replace(" ", "_")


def tone(frequency):
    """Return a note with five harmonics that dies away."""
    t = np.arange(int(rate * beat)) / rate
    waves = sum(np.sin(2 * np.pi * k * frequency * t) / k**1.5 for k in range(1, 6))
    return waves * np.exp(-4 * t) * np.minimum(1, t / 0.01)


sound = np.concatenate([tone(NOTES.get(note, 0.0)) for note in melody])
sound += 0.003 * np.random.default_rng(0).standard_normal(sound.size)
frequencies, times, spectra = stft(sound, rate, nperseg=1024, noverlap=768)
power = np.abs(spectra.T) ** 2

# %%
# Seven atoms: six notes, and the silence between them. The loss is
# :class:`atomstream.losses.ItakuraSaito`.

model = OnlineNMF(7, loss="is", n_epochs=100, batch_size=128, random_state=0).fit(power)
codes = model.transform(power) * model.components_.sum(axis=1)
peaks = frequencies[model.components_.argmax(axis=1)]
shares = model.components_ / model.components_.sum(axis=1, keepdims=True)
silence = shares.max(axis=1).argmin()  # its spectrum is flat
order = np.argsort(np.where(np.arange(7) == silence, -1, peaks))

# %%
# A name is that of the note nearest to the peak of the atom.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(1, 2.4)
)
for place, atom in enumerate(order):
    spectrum = 10 * np.log10(model.components_[atom] / model.components_[atom].max() + 1e-6)
    left.plot(frequencies, place + spectrum / 70)
left.set(title="atoms: spectra", xlabel="frequency, Hz", xlim=(0, 2500), yticks=[])
loud = np.sqrt(codes[:, order]).T
right.imshow(
    loud, aspect="auto", origin="lower", cmap="magma", extent=(0, times[-1], -0.5, 6.5),
    interpolation="nearest", vmax=np.quantile(loud, 0.99),
)  # fmt: skip
names = [min(NOTES, key=lambda note: abs(NOTES[note] - peak)) for peak in peaks[order]]
names[0] = "silence"
right.set(title="codes: when they sound", xlabel="time, s", yticks=range(7), yticklabels=names)

plt.show()
