"""What a user's type checker sees of topics: checked as `tests/typed` is, never run."""

from typing import assert_type

from atomstream import TopicModel

assert_type(TopicModel(3).fit(["one text", "another text"]), TopicModel)
