"""Plots of topics: their words as bars, and their shares over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.viz.plots.canvas import Fitted, empty, panels, plain, shown
from atomstream.viz.plots.style import BLUE, TEXT, TICK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from atomstream.domains.text.topic_shares import TopicsOverTime

__all__ = ["topics", "topics_data", "topics_over_time", "topics_over_time_data"]


LEAST = 1e-6  # share of a topic below which it does not hold a word


class Topical(Fitted, Protocol):
    """A fitted model of topics."""

    def top_words(self, n_words: int) -> list[list[tuple[str, float]]]:
        """Return the largest words of each topic with their shares."""


def topics_data(
    model: Topical, n_topics: int = 20, n_words: int = 8, order: str = "importance"
) -> list[tuple[int, float, list[tuple[str, float]]]]:
    """Return what `topics` draws: numbers, shares of all words, and top words of topics.

    Words that a topic does not hold are left out, where others are there.
    """
    words = [
        [pair for place, pair in enumerate(listed) if pair[1] > LEAST or not place]
        for listed in model.top_words(n_words)
    ]
    drawn = shown(model, n_topics, order)
    return [(int(topic), float(model.importance_[topic]), words[topic]) for topic in drawn]


def topics(
    model: Topical,
    *,
    n_topics: int = 20,
    n_words: int = 8,
    n_columns: int = 4,
    order: str = "importance",
) -> Figure:
    """Draw the most important topics: bars of the shares of their top words.

    Parameters
    ----------
    model : fitted TopicModel
    n_topics : int, default=20
    n_words : int, default=8
        Number of words of each topic.
    n_columns : int, default=4
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    drawn = topics_data(model, n_topics, n_words, order)
    longest = max(len(words) for _, _, words in drawn)
    grid, figure = panels(len(drawn), n_columns, 2.6, 0.42 + 0.17 * longest)
    for axes, (topic, share, words) in zip(grid, drawn, strict=True):
        axes.barh(range(len(words)), [100 * of for _, of in words], color=BLUE, height=0.7)
        axes.set_yticks(range(len(words)), [plain(word, 16) for word, _ in words], fontsize=TEXT)
        axes.invert_yaxis()
        axes.set_title(f"topic {topic}: {100 * share:.1f} % of all words", fontsize=TEXT)
        axes.tick_params(axis="x", labelsize=TICK)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("% of the topic", fontsize=TEXT)
    return figure


def topics_over_time_data(
    over_time: TopicsOverTime, n_topics: int = 8
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `topics_over_time` draws: starts of bins, the topics that vary most, shares.

    Returns
    -------
    starts : ndarray of shape (n_bins,)
    topics : ndarray of int of shape (n_topics,)
    shares : ndarray of shape (n_bins, n_topics)
    """
    order = np.argsort(-np.nanstd(over_time.shares, axis=0), kind="stable")[:n_topics]
    return over_time.starts, order, over_time.shares[:, order]


def topics_over_time(
    over_time: TopicsOverTime, names: Sequence[str] | None = None, *, n_topics: int = 8
) -> Figure:
    """Draw the shares over time of the topics that vary most.

    Parameters
    ----------
    over_time : TopicsOverTime
    names : sequence of str, optional
        Names of all topics, for example a few top words of each.
    n_topics : int, default=8
    """
    starts, drawn, shares = topics_over_time_data(over_time, n_topics)
    figure = empty(7.5, 0.8 * len(drawn) + 0.6)
    grid = figure.subplots(len(drawn), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, topic, curve in zip(grid, drawn, shares.T, strict=True):
        axes.plot(starts, 100 * curve, color=BLUE, linewidth=1.2, marker=".", markersize=3)
        name = "" if names is None else f": {plain(names[topic], 70)}"
        axes.set_title(f"topic {topic}{name}", fontsize=TEXT, loc="left", pad=2)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=TICK)
    grid[-1].set_ylim(0, None)
    figure.supylabel("mean share of the documents, %", fontsize=TEXT)
    return figure
