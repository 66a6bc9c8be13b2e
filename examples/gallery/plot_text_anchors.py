"""
Topics about given words
========================

You know some of the topics that you look for: how do you get these, and others beside them? Give
each a few words. The first topics then begin with the texts that have these words, and stay with
them. The texts are docstrings of NumPy, SciPy and scikit-learn.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn.utils.discovery as discovery

from atomstream import TopicModel


def documents():
    """Yield the docstrings of public classes and functions."""
    rooms = [np, np.linalg, np.random, np.fft]
    names = "fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats"
    rooms += [getattr(scipy, name) for name in names.split()]
    things = [getattr(room, name) for room in rooms for name in dir(room) if name[0] != "_"]
    things += [thing for _, thing in discovery.all_functions() + discovery.all_estimators()]
    for thing in {id(thing): thing for thing in things if callable(thing)}.values():
        yield (inspect.getdoc(thing) or "").split("Examples\n---")[0]


texts = [text for text in documents() if len(text) > 400]
anchors = {
    "linear algebra": ["matrix", "eigenvalues"],
    "random numbers": ["distribution", "random"],
    "signals": ["filter", "frequency"],
}
settings = {"vectorizer": "tfidf", "n_features": 4000, "min_df": 5, "random_state": 0}
models = {
    "no anchors": TopicModel(10, **settings).fit(texts),
    "anchors": TopicModel(10, anchors=anchors, **settings).fit(texts),
    "hard anchors": TopicModel(10, anchors=anchors, hard_anchors=True, **settings).fit(texts),
}

# %%
# The likeliest words of the first three topics:

for name, topic in zip(anchors, models["anchors"].top_words(8), strict=False):
    print(f"{name}:", ", ".join(word for word, _ in topic))

# %%
# Where the given words stand: how likely each is in each topic, over its sum in all topics. Without
# anchors they stand where the texts put them. Anchors pull them into the first topics, and hard
# anchors keep them out of all others.

words = [word for given in anchors.values() for word in given]
figure, grid = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
for axis, (title, model) in zip(grid, models.items(), strict=True):
    columns = [list(model.vocabulary_.names).index(word) for word in words]
    likely = model.components_[:, columns]
    drawn = axis.imshow(
        (likely / likely.sum(axis=0)).T, aspect="auto", cmap="Blues", vmin=0, vmax=1
    )
    axis.set_title(title, loc="left")
    axis.set_xticks(range(10))
    axis.set_xlabel("topic")
grid[0].set_yticks(range(len(words)), words)
figure.colorbar(drawn, ax=grid, label="share of the word")

plt.show()
