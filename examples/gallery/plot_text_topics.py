"""
Topics of documents
===================

What are a few thousand texts about? The texts are the docstrings of NumPy, SciPy and scikit-learn,
which you have on your disk. A topic is a distribution over words, and a text is a mixture of
topics.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy
import sklearn.utils.discovery as discovery

from atomstream import TopicModel, plots


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
len(texts)

# %%
# Words that most texts share (array, parameters, returns) say little. ``"tfidf"`` plays them down.

model = TopicModel(12, vectorizer="tfidf", n_features=4000, min_df=5, random_state=0).fit(texts)

# %%
# Each panel is a topic with its most important words. The entries of a topic add up to one: it lies
# on a :class:`atomstream.penalties.Simplex`.

figure = plots.topics(model, n_topics=12)

plt.show()
