"""A model of topics, and a call that an interrupt may tear."""

from atomstream import TopicModel

TEXTS = ["a rose is a rose", "the sea is the sea", "a sea of rose petals"] * 8
CASES = {
    "topics": (
        lambda: TopicModel(2, batch_size=8, random_state=0),
        lambda m: m.fit_stream(TEXTS),
        3,
    ),
}
