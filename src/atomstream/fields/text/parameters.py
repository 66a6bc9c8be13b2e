"""The parameters of topic models: what each is for, and what it may be."""

from atomstream.base.parameters import ARRAYS, FLAG, NONE, instance, one_of, parameter, whole
from atomstream.estimators._parameters import AMOUNT, table

TOPICS = table(
    n_components="Number of topics.",
    batch_size="Documents per step.",
    n_epochs="Passes over the documents; without it ten, and then rounds until topics settle.",
    vectorizer=parameter(
        "How words become features: hashing, counts or tfidf.", one_of("counts", "hashing", "tfidf")
    ),
    n_features=parameter("Features of the hash, or the most words to keep.", whole(1, 2**31 - 1)),
    stop_words=parameter(
        "Words that do not count: english, a list of words, or both.",
        one_of("english"),
        ARRAYS,
        NONE,
    ),
    min_df=parameter(
        "For counts and tfidf: least number of documents that a word occurs in.",
        whole(1, 2**31 - 1),
    ),
    ngrams=parameter("Runs of up to so many words count as words too.", whole(1, 2**31 - 1)),
    anchors=parameter("Words that the first topics are about, by names.", instance(dict), NONE),
    anchor_weight=parameter("Words of anchors over those that fall on a topic.", AMOUNT),
    hard_anchors=parameter("Words of an anchor stand in its topic alone.", FLAG),
)
