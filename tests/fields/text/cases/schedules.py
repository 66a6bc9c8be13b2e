"""A model of topics that learns under a schedule."""

from atomstream import TopicModel

TEXTS = ["red green blue", "green blue red", "cat dog cow", "dog cow cat"] * 5
CASES = {"topics": lambda schedule: TopicModel(2, schedule=schedule).fit(TEXTS)}
