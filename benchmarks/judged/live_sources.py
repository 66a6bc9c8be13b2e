"""Sources of air, live: a site with one row an hour, seasons, a new source and a changed profile.

``judged/live_sources.py`` writes the record ``sources-live``.

The site is made: 540 days of 14 species from five sources, whose contributions are lognormal,
depend on the hours before (a correlation of .93), and have a rhythm of the day and of the year.
From day 250 there is a sixth source; from day 400 the profile of the second one is another.
Uncertainties are 8 % and a part that is always there, as a laboratory gives them.

live
    `OnlineNMF` of six factors learns the first 90 days by `fit` and then every hour by
    `partial_fit`, with a half-life of 60 days; `DriftDetector` looks at the logarithm of the Q of
    each hour before it is learned, set to one false alarm in 20,000 hours, since fits to few days
    make about as many again: one in 10,000 is stated. On the midnights 1, 3, 10 and 30 days after
    an alarm the model is fitted anew to the hours since the date of the change: at least to those
    of the last 10 days, at most to those of 60.
online alone
    The same without fits after alarms.
window of n days
    A default `fit` of the n days before, made for every day that is judged.
begun with the last
    A fit of the 60 days before that begins with the atoms of such a fit 15 days ago.

Judged is the Q of the next day, on every 15th day, over that of the window that is best in
hindsight. The policy and its numbers were tuned on other seeds. Times are those of the processor.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmark_records import save

from atomstream import OnlineNMF
from atomstream.schedules import Constant
from atomstream.watch.drift import DriftDetector

DAY, N_DAYS, FIRST, STEP = 24, 540, 90, 15  # hours; days: all, learned first, between judged ones
NEW, CHANGED = 250, 400  # days
N_FACTORS, HALF_LIFE, WINDOWS = 6, 60, (15, 30, 60)
FALSE_ALARM_EVERY = 20_000  # hours, of the detector alone
REFITS, LEAST, MOST = (1, 3, 10, 30), 10, 60  # days after an alarm; days of rows
SEEDS, N_JUDGED, CALM_SEEDS = range(100, 106), 3, range(200, 206)


def site(seed, new=None, changed=None, n_species=14, n_sources=5):
    """Return concentrations over their root mean square in the first days, and weights."""
    rng = np.random.default_rng([seed, 46])
    hours, n = np.arange(N_DAYS * DAY)[:, None], n_sources + 1
    profiles = rng.dirichlet(np.full(n_species, 0.35), n) + 0.002
    logs, state = np.empty((len(hours), n)), rng.standard_normal(n)
    for row in logs:
        state = 0.93 * state + np.sqrt(1 - 0.93**2) * rng.standard_normal(n)
        row[:] = 0.8 * state
    logs += 0.8 * np.sin(2 * np.pi * (hours / (365.25 * DAY) - rng.random(n)))
    logs += 0.5 * np.sin(2 * np.pi * (hours / DAY - rng.random(n)))
    contributions = np.exp(logs) * rng.uniform(0.6, 1.4, n)
    contributions[: N_DAYS * DAY if new is None else new * DAY, -1] = 0
    clean = contributions @ profiles
    if changed is not None:
        other, order = profiles[1].copy(), np.argsort(profiles[1])
        other[order[-3:]] *= [1, 0.6, 0.5]
        other[order[5:8]] += 0.12
        clean[changed * DAY :] += np.outer(contributions[changed * DAY :, 1], other - profiles[1])
    always = 0.15 * np.quantile(clean, 0.2, axis=0)
    noise = (0.08 * clean + always) * rng.standard_normal(clean.shape)
    values = np.maximum(clean + noise, 0)
    scale = np.sqrt((values[: FIRST * DAY] ** 2).mean(axis=0))
    return values / scale, (scale / (0.08 * values + always)) ** 2


def fitted(X, W, **settings):
    """Return a fit of some hours, which forgets by half in so many days of their weights."""
    # An hour has the mass of its largest weight, and the half-life counts mass.
    half_life = HALF_LIFE * DAY * float(W.max(axis=1).mean())
    schedule = Constant(half_life=half_life)
    model = OnlineNMF(N_FACTORS, schedule=schedule, random_state=0, **settings)
    return model.fit(X, entry_weight=W)


@dataclass
class Live:
    """A model that learns hour by hour, its alarms, and its atoms at each midnight."""

    X: Any
    W: Any
    refits: tuple[int, ...] = REFITS
    alarms: list = field(default_factory=list)  # pairs of hours: of the alarm, of its date
    atoms: list = field(default_factory=list)
    due: list = field(default_factory=list)
    n_fits: int = 1

    def run(self):
        """Learn all hours."""
        began = time.process_time()
        self.model = fitted(self.X[: FIRST * DAY], self.W[: FIRST * DAY])
        self.detector = DriftDetector(FALSE_ALARM_EVERY)
        for hour in range(FIRST * DAY, len(self.X)):
            if hour % DAY == 0:
                self._midnight(hour)
            row = slice(hour, hour + 1)
            self.model.partial_fit(self.X[row], entry_weight=self.W[row])
            q = 2 * self.model.batch_objective_ * self.W[hour].max()
            if self.detector.update(np.log(q)):
                self.alarms.append((hour, hour - self.detector.since))
                self.due = [hour // DAY + days for days in self.refits]
        self.seconds = time.process_time() - began
        return self

    def _midnight(self, hour):
        """Fit anew where that is due, and keep the atoms."""
        if self.due and hour // DAY >= self.due[0]:
            del self.due[0]
            since = max(min(self.alarms[-1][1], hour - LEAST * DAY), hour - MOST * DAY)
            self.model = fitted(self.X[since:hour], self.W[since:hour])
            self.n_fits += 1
        self.atoms.append(self.model.components_.copy())


def next_day(atoms, X, W, day):
    """Return the Q of a day over its hours."""
    rows = slice(day * DAY, (day + 1) * DAY)
    codes = OnlineNMF.from_components(atoms).transform(X[rows], entry_weight=W[rows])
    return float((W[rows] * (X[rows] - codes @ atoms) ** 2).sum()) / DAY


def found(alarms):
    """Return for each event when it was dated and when told, in days from it, and other alarms."""
    days = [(hour / DAY, date / DAY) for hour, date in alarms]
    told, false = {}, 0
    for hour, date in days:
        # What is told in the month after an event may be its consequence, and before it is false.
        after = [event for event in (NEW, CHANGED) if 0 <= hour - event <= 30]
        false += not after
        if after and after[0] not in told and abs(date - after[0]) <= 7:
            told[after[0]] = {"dated": date - after[0], "told": hour - after[0]}
    events = {"new source": told.get(NEW), "changed profile": told.get(CHANGED)}
    return events | {"false": false, "alarms": days}


def judged(X, W, runs):
    """Return the mean Q of the next day of runs and of fits of windows, and seconds a day."""
    q: dict[str, list] = {name: [] for name in runs}
    seconds: dict[str, float] = {name: run.seconds for name, run in runs.items()}
    last, days = None, range(FIRST, N_DAYS, STEP)
    for day in days:
        for name, run in runs.items():
            q[name].append(next_day(run.atoms[day - FIRST], X, W, day))
        for n_days in (*WINDOWS, "begun with the last"):
            warm = n_days == "begun with the last"
            rows = slice((day - (60 if warm else n_days)) * DAY, day * DAY)
            rows = slice(max(rows.start, 0), rows.stop)
            began = time.process_time()
            settings = {} if last is None or not warm else {"init": last}
            atoms = fitted(X[rows], W[rows], **settings).components_
            name = n_days if warm else f"window of {n_days} days"
            seconds[name] = seconds.get(name, 0) + time.process_time() - began
            q.setdefault(name, []).append(next_day(atoms, X, W, day))
            last = atoms if warm else last
    per_day = {
        name: total / (N_DAYS - FIRST if name in runs else len(days))
        for name, total in seconds.items()
    }
    return {"q": q, "seconds a day": per_day, "days": list(days)}


def main():
    """Study all sites, and write the record after each."""
    warnings.simplefilter("ignore")
    began, results = time.perf_counter(), {"events": {}, "calm": {}, "judged": {}}
    fitted(*(part[: 10 * DAY] for part in site(0)))  # compiles
    for number, seed in enumerate(SEEDS):
        X, W = site(seed, NEW, CHANGED)
        live = Live(X, W).run()
        results["events"][str(seed)] = found(live.alarms) | {"fits": live.n_fits}
        if number < N_JUDGED:
            alone = Live(X, W, refits=()).run()
            results["judged"][str(seed)] = judged(X, W, {"live": live, "online alone": alone})
        print(seed, results["events"][str(seed)], flush=True)
        save("sources-live", results, seconds=time.perf_counter() - began)
    for seed in CALM_SEEDS:
        live = Live(*site(seed)).run()
        results["calm"][str(seed)] = len(live.alarms)
        print(seed, live.alarms, flush=True)
    save("sources-live", results, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
