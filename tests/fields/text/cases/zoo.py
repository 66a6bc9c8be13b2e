"""A small model of topics, and documents that it learns from."""

from atomstream import TopicModel

DOCUMENTS = ["the cat chased a mouse", "a cat and a mouse", "stocks fell", "bonds and stocks fell"]
CASES = {
    "topics": (
        TopicModel(2, vectorizer="counts", n_epochs=2, random_state=0),
        lambda: DOCUMENTS * 5,
        "transform",
    ),
}
