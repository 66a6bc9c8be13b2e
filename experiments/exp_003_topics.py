"""Topics of BBC News, and of headlines over time, by the topic model with its defaults.

BBC News (2225 documents in five categories; counts of stemmed words, of which documents are made by
repeating them): five topics, by "counts", "tfidf" and "hashing"; how many documents have their
largest share in the topic that belongs to their category (best matching), over 8 seeds. The simple
rivals have the words that scikit-learn's tf-idf finds: k-means, the best of ten starts, and batch
`NMF` to its end. The articles have no dates. Headlines (9970 of the Australian ABC, 19 February to
7 April 2003): twelve topics by "hashing", their mean shares day by day, and the days at which
`change_points` sees these change, if any: the invasion of Iraq began on 20 March. Leaves
``results/003-topics.png``, ``003-headlines.png`` and ``results/003-topics.json``.
"""

from __future__ import annotations

import csv
import gzip
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from pictures import save_figure
from records import DATA, save
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfVectorizer

from atomstream import TopicModel, plots
from atomstream.fields.series.change_points import change_points

N_SEEDS, N_TOPICS = 8, 12


def bbc() -> tuple[list[str], np.ndarray]:
    """Return the documents, their words in any order, and the category of each."""
    stored = np.load(DATA / "bbc_news/bbc_counts.npz")
    parts = stored["data"], stored["indices"], stored["indptr"]
    counts = sp.csc_array(parts, shape=tuple(stored["shape"])).T.tocsr()
    terms = stored["terms"].astype(str)
    rows = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    documents = [
        " ".join(np.repeat(terms[counts.indices[a:b]], counts.data[a:b].astype(int)))
        for a, b in rows
    ]
    return documents, np.unique(stored["category"], return_inverse=True)[1]


def accuracy(shares: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of documents whose largest topic matches their class best."""
    table = np.zeros((shares.shape[1], labels.max() + 1), dtype=int)
    np.add.at(table, (shares.argmax(axis=1), labels), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(labels))


def categories() -> dict:
    """Learn five topics of BBC News in three ways; draw those of the first seed by counts."""
    documents, labels = bbc()
    told: dict = {}
    for vectorizer in ("counts", "tfidf", "hashing"):
        found, seconds = [], []
        for seed in range(N_SEEDS):
            start = perf_counter()
            model = TopicModel(
                5, vectorizer=vectorizer, stop_words=None, n_epochs=10, random_state=seed
            ).fit(documents)
            seconds.append(perf_counter() - start)
            found.append(accuracy(model.topic_shares(documents), labels))
            if seed == 0:
                words = [" ".join(word for word, _ in topic) for topic in model.top_words(8)]
                if vectorizer == "counts":
                    save_figure(plots.topics(model, n_columns=5), "003-topics", 70)
        told[vectorizer] = {
            "accuracy": [float(np.mean(found)), float(np.std(found, ddof=1))],
            "seconds": float(np.median(seconds)),
            "top_words_of_seed_0": words,
        }
    return told


def rivals() -> dict[str, list[float]]:
    """Return what k-means and batch NMF find of the categories: mean and standard deviation."""
    documents, labels = bbc()
    X, found = TfidfVectorizer().fit_transform(documents), {"k-means": [], "batch NMF": []}
    for seed in range(N_SEEDS):
        groups = KMeans(5, n_init=10, random_state=seed).fit(X).labels_
        batch = NMF(5, init="random", max_iter=1000, random_state=seed).fit_transform(X)
        found["k-means"].append(accuracy(np.eye(5)[groups], labels))
        found["batch NMF"].append(accuracy(batch, labels))
    return {name: [float(np.mean(row)), float(np.std(row, ddof=1))] for name, row in found.items()}


def headlines() -> dict:
    """Learn topics of headlines, draw their shares day by day, and look for changes of these."""
    with gzip.open(DATA / "headlines/abc_headlines_2003.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    documents = [row["headline_text"] for row in rows]
    days = [
        f"{row['publish_date'][:4]}-{row['publish_date'][4:6]}-{row['publish_date'][6:]}"
        for row in rows
    ]
    start = perf_counter()
    model = TopicModel(N_TOPICS, n_epochs=10, random_state=0).fit(documents)
    seconds = perf_counter() - start
    over = model.topics_over_time(documents, days, freq="D")
    names = [", ".join(word for word, _ in topic) for topic in model.top_words(6)]
    save_figure(plots.topics_over_time(over, names, n_topics=6), "003-headlines", 80)
    found = {level: change_points(over.shares, level=level) for level in (0.01, 0.05)}
    before, after = (
        over.shares[part].mean(axis=0) for part in (slice(None, 29), slice(29, None))
    )  # 20 March
    most = int(np.argmax(after - before))
    return {
        "seconds": seconds,
        "days": len(over.starts),
        "topics": names,
        "changes_by_level": {
            level: [str(over.starts[time]) for time in at.times] for level, at in found.items()
        },
        "most_risen_topic": {
            "words": names[most],
            "share_before": before[most],
            "share_after": after[most],
        },
    }


def main() -> None:
    """Learn, judge, draw, write the numbers."""
    numbers = {"seeds": N_SEEDS, "BBC News": categories(), "rivals": rivals()}
    numbers["headlines"] = headlines()
    save("003-topics", numbers)


if __name__ == "__main__":
    main()
