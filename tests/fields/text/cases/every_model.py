"""A model of topics, saved to a file, for all verbs that look."""

from atomstream import TopicModel

DOCUMENTS = ["cat dog horse", "stock bond market", "dog mouse cat", "bond trade stock"] * 5


def documents(folder):
    """Write the documents that the model has learned from."""
    (folder / "docs.txt").write_text("\n".join(DOCUMENTS))


CASES = {
    "TopicModel": {
        "learned": lambda rng: TopicModel(2, n_features=64, n_epochs=2, random_state=0).fit(
            DOCUMENTS
        ),
        "writes": documents,
        "codes": "docs.txt",
        "shape": (20, 2),
        "atoms": "topics",
    },
}
