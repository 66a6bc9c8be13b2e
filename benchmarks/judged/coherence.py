"""Coherence of topics in documents that were not learned from, against batch NMF run to its end.

``judged/coherence.py`` writes a record for each text: *Sherlock Holmes* by paragraphs
(``results/coherence-novel.json``), and every fourth post of 20 Newsgroups. Names of texts run these
alone. Half of the documents, drawn anew for each of five seeds, are learned from by `TopicModel`
with its defaults, and by scikit-learn's `NMF` under Kullback-Leibler on the counts that the model
has made of them, from ``nndsvda`` and from five draws of random numbers, until 200 rounds gain less
than 1e-4 of the loss or 8,000 are made; "more coherent start" is that of ``nndsvda`` and the first
draw whose words are more coherent in the learned half, "most coherent of six" that of all, as many
as ours chooses from. The figure is the mean NPMI of the ten likeliest words of ten topics in the
other half. The starts of our topics were chosen on headlines and on the news of the BBC
(``judged/coherence.py headlines bbc``) and on paragraphs of docstrings, not on what is reported.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import csv
import gzip
import re
import sys
import time
import warnings

import numpy as np
from at_hand import kept, run_to_the_end
from benchmark_records import DATA, save
from sklearn.decomposition import NMF

from atomstream import TopicModel
from atomstream.fields.text.topic_shares import npmi

SEEDS, N_TOPICS, N_WORDS = range(5), 10, 10
STARTS = {"NMF, nndsvda": ("nndsvda", 0), "NMF, random": ("random", 0)}
STARTS |= {f"random {draw}": ("random", 100 * draw) for draw in range(1, 5)}
CHOSEN = {"NMF, more coherent start": 2, "NMF, most coherent of six": 6}  # of the first so many


def novel():
    """Return the paragraphs of *The Adventures of Sherlock Holmes*, of ten words or more."""
    path = DATA / "word_adjacency/sherlock_holmes.txt.gz"
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    return [part for part in re.split(r"\r?\n\s*\r?\n", text) if len(part.split()) >= 10]


def headlines():
    """Return 9,970 headlines."""
    path = DATA / "headlines/abc_headlines_2003.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [row["headline_text"] for row in csv.DictReader(file)]


def words_of(path, term):
    """Return documents made of counts: each word as often as it was counted."""
    with np.load(DATA / path) as file:
        terms = np.array([re.sub(r"\W", "", str(word)) or "x" for word in file[term]])
    counts = kept(path)
    counts = counts if counts.shape[1] == len(terms) else counts.T
    counts = counts.tocsr().astype(int)
    return [" ".join(np.repeat(terms[row.indices], row.data)) for row in counts if row.nnz]


TEXTS = {
    "novel": novel,
    "news": lambda: words_of("news20/news20_train_counts_w1000.npz", "terms")[::4],
}
TUNED = {"headlines": headlines, "bbc": lambda: words_of("bbc_news/bbc_counts.npz", "terms")}


def batch(counts, init, seed):
    """Return the topics of batch NMF from a start, run to its end."""
    counts = counts.astype(float)
    with np.errstate(all="ignore"):
        how = {"solver": "mu", "beta_loss": "kullback-leibler", "max_iter": 1, "tol": 0}
        first = NMF(N_TOPICS, init=init, random_state=seed, **how)
        codes = first.fit_transform(counts)
    codes, atoms, _ = run_to_the_end(counts, N_TOPICS, "kl", codes, first.components_)
    return atoms


def against_batch(documents, seed):
    """Return the mean coherence of each contender's topics in the half that is held out."""
    order = np.random.default_rng(seed).permutation(len(documents))
    half = len(order) // 2
    learned, held_out = ([documents[i] for i in part] for part in (order[:half], order[half:]))
    began = time.process_time()
    model = TopicModel(N_TOPICS, random_state=seed).fit(learned)
    topics, times = {"ours": model.components_}, {"ours": time.process_time() - began}
    counts, judge = model.count(learned), model.count(held_out)
    used = np.flatnonzero(counts.sum(axis=0))  # words that no document has change no topic
    counts, judge = counts[:, used], judge[:, used]
    topics["ours"] = topics["ours"][:, used]
    for who, (init, draw) in STARTS.items():
        began = time.process_time()
        topics[who] = batch(counts, init, seed + draw)
        times[who] = time.process_time() - began
    best = {who: np.argsort(-found, axis=1)[:, :N_WORDS] for who, found in topics.items()}
    found = {who: float(np.nanmean(npmi(judge, words))) for who, words in best.items()}
    # As our model does between its own, on the documents that were learned from.
    known = {who: float(np.nanmean(npmi(counts, best[who]))) for who in STARTS}
    for name, n_starts in CHOSEN.items():
        rivals = list(STARTS)[:n_starts]
        found[name] = found[max(rivals, key=known.__getitem__)]
        times[name] = sum(times[who] for who in rivals)
    told = ("ours", *list(STARTS)[:2], *CHOSEN)
    return {who: (found[who], times[who]) for who in told}


def main(names):
    """Compare on texts by their names; each but those that served to tune gets a record."""
    for name in names:
        documents, found, began = (TEXTS | TUNED)[name](), [], time.perf_counter()
        for seed in SEEDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(against_batch(documents, seed))
            print(name, seed, found[-1], flush=True)
        values, seconds = (
            {who: [row[who][part] for row in found] for who in found[0]} for part in (0, 1)
        )
        results = {
            "documents": len(documents),
            "means": {who: float(np.mean(row)) for who, row in values.items()},
            "seconds": {who: float(np.mean(row)) for who, row in seconds.items()},
            "by seed": values,
        }
        if name in TEXTS:
            save(f"coherence-{name}", results, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main(sys.argv[1:] or TEXTS)
