"""
Topics over time
================

Which subjects rise and which fall? Documents come with a date. The model learns topics from all of
them, and their shares are then followed day by day. The dispatches of this example are made by the
script, so that you know what to expect: an election in autumn, floods in two months, and football
all year.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import TopicModel, plots

WORDS = {
    "election": "vote candidate poll party ballot campaign senate voters",
    "flood": "river rain flood dam water rescue levee storm",
    "football": "goal match league striker coach penalty season cup",
    "markets": "stocks bank rates shares bond inflation profit trade",
}
rng = np.random.default_rng(0)
days = np.arange(365)
strength = np.stack(
    [
        0.1 + 3 * np.exp(-(((days - 305) / 25) ** 2)),
        0.05 + 4 * np.exp(-(((days - 80) / 12) ** 2)) + 3 * np.exp(-(((days - 200) / 8) ** 2)),
        np.full(365, 0.8),
        0.7 + 0.3 * np.sin(days / 20),
    ]
)
dates, documents = [], []
for day in days:
    for _ in range(20):
        about = rng.choice(4, p=strength[:, day] / strength[:, day].sum())
        own, any_word = list(WORDS.values())[about].split(), " ".join(WORDS.values()).split()
        documents.append(" ".join([*rng.choice(own, 9), *rng.choice(any_word, 3)]))
        dates.append(np.datetime64("2026-01-01") + day)

# %%
# ``fit`` reads the documents several times; for those that keep coming there is ``fit_stream``.

model = TopicModel(4, vectorizer="counts", random_state=0).fit(documents)
for words in model.top_words(4):
    print(", ".join(word for word, _ in words))

# %%
# Each curve has the name of the three most important words of its topic.

over_time = model.topics_over_time(documents, np.array(dates), freq="W")
names = [", ".join(word for word, _ in words) for words in model.top_words(3)]
figure = plots.topics_over_time(over_time, names)

plt.show()
