"""
Sources of air, and when one is new
===================================

Which sources does a site have, and when does another one begin? Concentrations with uncertainties
are taken apart by :func:`atomstream.find_sources`. Then a model learns hour by hour, and
:class:`atomstream.drift.DriftDetector` tells from the Q of each hour when the site has changed.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineNMF, ScheduleWarning, find_sources, plots, sources
from atomstream.drift import DriftDetector
from atomstream.schedules import Constant

warnings.simplefilter("ignore", ScheduleWarning)  # a half-life is meant to forget
rng = np.random.default_rng(0)
species = ["Fe", "Zn", "Pb", "Mn", "Cu", "SO4", "NO3", "OC", "EC", "K"]
profiles = rng.dirichlet(np.full(10, 0.4), 4) + 0.005
logs = rng.standard_normal((24 * 60, 4))
for hour in range(1, len(logs)):  # each hour is like the hour before
    logs[hour] = 0.9 * logs[hour - 1] + 0.44 * logs[hour]
contributions = np.exp(0.8 * logs)
contributions[: 24 * 40, 3] = 0  # the fourth source begins on day 40
clean = contributions @ profiles
always = 0.15 * np.quantile(clean, 0.2, axis=0)
values = np.maximum(clean + (0.08 * clean + always) * rng.standard_normal(clean.shape), 0)
dates = np.datetime64("2024-01-01T00") + np.arange(len(values))

# %%
# The first twenty days have three sources. Bars are concentrations, dots per cent of a species.

table = sources.SpeciesTable(values, 0.08 * values + always, species, dates)
first = sources.SpeciesTable(
    values[: 24 * 20], table.uncertainties[: 24 * 20], species, dates[: 24 * 20]
)
found = find_sources(first, 3, n_starts=5, random_state=0)
print(f"Q over the expected Q: {found.q_true / found.q_expected:.2f}")
plots.factor_profiles(found.profiles, found.species)

# %%
# From there on one row an hour. An hour has the mass of its largest weight, and the half-life
# counts mass. The Q of an hour is judged before it is learned.

X, weights = table.problem()
mass = weights.max(axis=1)
half_life = 30 * 24 * float(mass.mean())
model = OnlineNMF(3, schedule=Constant(half_life=half_life), random_state=0)
model.fit(X[: 24 * 20], entry_weight=weights[: 24 * 20])
detector, alarms, q = DriftDetector(), [], []
for hour in range(24 * 20, len(X)):
    model.partial_fit(X[[hour]], entry_weight=weights[[hour]])
    q.append(2 * model.batch_objective_ * mass[hour])
    if detector.update(np.log(q[-1])):
        alarms.append((hour, hour - detector.since))
told, since = alarms[0]
print(f"told on {dates[told]}, since {dates[since]}")

# %%
# Online steps improve the atoms there are. The new source is found by a fit to the hours since then
# with one atom more: its profile is that of the fourth source.

after = slice(since, len(values))
late = sources.SpeciesTable(values[after], table.uncertainties[after], species, dates[after])
again = find_sources(late, 4, n_starts=5, random_state=0)
unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (again.profiles, profiles)]
print("cosines with the planted profiles:", np.round((unit[1] @ unit[0].T).max(axis=1), 3))

figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
axis.semilogy(np.arange(24 * 20, len(X)) / 24, q, linewidth=0.6)
axis.axvline(told / 24, color="black", linestyle="--", label="alarm")
axis.set(xlabel="day", ylabel="Q of the hour")
axis.legend()

plt.show()
