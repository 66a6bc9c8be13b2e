"""What the watch finds in three real streams: headlines of 2003, hourly weather, an epidemic.

``judged/real_streams.py`` reads the shared data (ATOMSTREAM_DATA, by default the folder
``shared/data`` beside the checkout) and writes ``results/real-streams.json``. The page that tells
of it is ``docs/how-to/streams-that-change.md``. The rivals of the adaptive schedule are the default
one and the best of six fixed half-lives, which is chosen in hindsight.
"""

from __future__ import annotations

import csv
import gzip
import json
import warnings

import numpy as np
from benchmark_records import DATA, save
from sklearn.feature_extraction.text import CountVectorizer

from atomstream import OnlineNMF
from atomstream.schedules import Constant
from atomstream.watch.callbacks import Callback, History
from atomstream.watch.changes import ChangeWatch

HALF_LIVES = (30, 100, 300, 1_000, 3_000, 10_000)  # samples
EVERY = 100  # batches between false alarms of each kind: the streams have 75 to 249


class Takeovers(Callback):
    """Keeps the steps at which the second learner of the adaptive schedule took over."""

    def __init__(self):
        self.steps, self._seen = [], 0

    def on_fit_task_end(self, estimator, context):
        """Look after each batch."""
        reactive = vars(estimator._learner).get("reactive")
        if context.task_name == "batch" and reactive is not None:
            if reactive.n_taken > self._seen:
                self.steps.append(estimator.n_steps_)
            self._seen = reactive.n_taken


def headlines():
    """Return batches of word counts of 50 headlines, the date of each, and the words."""
    with gzip.open(DATA / "headlines/abc_headlines_2003.csv.gz", "rt", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["publish_date"])
    counter = CountVectorizer(min_df=10, stop_words="english")
    counts = counter.fit_transform(row["headline_text"] for row in rows)
    dates = [row["publish_date"] for row in rows]
    places = range(0, len(rows) - 49, 50)
    batches = [counts[i : i + 50].astype(float).tocsr() for i in places]
    return batches, [dates[i + 49] for i in places], list(counter.get_feature_names_out())


def weather():
    """Return batches of half a day of 36 cities, their dates, and the names of the columns."""
    with np.load(DATA / "weather_hourly/weather_36x2998x4.npz") as file:
        values, cities, hours = file["values"], file["cities"], file["hours"]
        kinds = file["measurements"]
    table = values.transpose(1, 0, 2).reshape(len(hours), -1).astype(float)
    low, high = np.nanmin(table[:720], axis=0), np.nanmax(table[:720], axis=0)
    table = np.clip((table - low) / np.where(high > low, high - low, 1), 0, 2)  # by the first month
    places = range(0, len(table) - 11, 12)
    names = [f"{kind} in {city}" for city in cities for kind in kinds]
    return [table[i : i + 12] for i in places], [str(hours[i + 11])[:10] for i in places], names


def epidemic():
    """Return days of new confirmed cases over the largest before, of places as rows of a week."""
    path = DATA / "covid19/confirmed_global_2020-01-22_2020-04-12.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    new = np.maximum(np.diff(np.array([row[4:] for row in rows], float), axis=1), 0)
    weeks = np.lib.stride_tricks.sliding_window_view(np.log1p(new), 7, axis=1)
    batches = [weeks[:, day][weeks[:, day].any(axis=1)] for day in range(weeks.shape[1])]
    return batches, head[11:], [f"{6 - i} days before" for i in range(7)]


def loss_of(batches, n_atoms, schedule, **settings):
    """Return the mean loss of batches before they are learned from."""
    history = History()
    model = OnlineNMF(n_atoms, schedule=schedule, random_state=0, **settings)
    model.set_callbacks(history).fit_stream(batches)
    return float(np.mean(history.objective[20:]))


def watched(batches, dates, names, n_atoms, **settings):
    """Return what is found: alarms with what changed, takeovers, and losses."""
    watch, takeovers = ChangeWatch(EVERY, usage=True), Takeovers()
    plain, adaptive = History(), History()
    model = OnlineNMF(n_atoms, schedule="harmonic", random_state=0, **settings)
    model.set_callbacks(watch, plain)
    atoms = model.fit_stream(batches).components_
    model = OnlineNMF(n_atoms, schedule="adaptive", random_state=0, **settings)
    model.set_callbacks(takeovers, adaptive).fit_stream(batches)
    fixed = {
        h: loss_of(batches, n_atoms, Constant(half_life=float(h)), **settings) for h in HALF_LIVES
    }
    best = min(fixed, key=fixed.get)
    return {
        "loss, default": loss_of(batches, n_atoms, "power", **settings),
        "best half-life": best,
        "loss, best half-life": fixed[best],
        "batches": len(batches),
        "alarms": [
            {
                "date": dates[change.step - 1],
                "cause": change.cause,
                "atoms": [
                    [
                        ", ".join(names[i] for i in np.argsort(-atoms[part.name])[:6]),
                        round(part.before, 4),
                        round(part.after, 4),
                    ]
                    for part in change.atoms[:1]
                ],
                "began": dates[min(change.step * change.began // change.n_samples, len(dates) - 1)],
                "features": [
                    [names[part.name], round(part.before, 4), round(part.after, 4)]
                    for part in change.features[:6]
                ],
            }
            for change in watch.found
        ],
        "takeovers": [dates[step - 1] for step in takeovers.steps],
        "loss, harmonic": float(np.mean(plain.objective[20:])),
        "loss, adaptive": float(np.mean(adaptive.objective[20:])),
    }


def main():
    """Look at the three streams, and write what was found."""
    warnings.simplefilter("ignore")
    found = {
        "headlines": watched(*headlines(), 6, loss="kl"),
        "weather": watched(*weather(), 10, missing=True),
        "epidemic": watched(*epidemic(), 4),
    }
    save("real-streams", found)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
