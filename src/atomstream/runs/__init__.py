"""Runs of the command line, each in a folder of its own: which kinds there are."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """The command that begins a kind of run, and the place of its task."""

    command: str
    place: str


# By the name that a run.toml has; runs on rows, which came first, have none.
TASKS = {
    "": Kind("learn", "atomstream.runs.tasks.rows:RowsTask"),
    "consensus": Kind("consensus", "atomstream.runs.tasks.consensus:ConsensusTask"),
    "image": Kind("image learn", "atomstream.runs.tasks.image:ImageTask"),
    "network": Kind("network learn", "atomstream.runs.tasks.network:NetworkTask"),
    "series forecast": Kind("series forecast", "atomstream.runs.tasks.series:ForecastTask"),
    "series impute": Kind("series impute", "atomstream.runs.tasks.series:ImputeTask"),
    "signatures": Kind("signatures", "atomstream.runs.tasks.signatures:SignaturesTask"),
    "tensor": Kind("tensor learn", "atomstream.runs.tasks.tensor:TensorTask"),
    "text": Kind("text topics", "atomstream.runs.tasks.text:TextTask"),
    "video": Kind("video learn", "atomstream.runs.tasks.video:VideoTask"),
    "walk": Kind("walk partition", "atomstream.runs.tasks.walk:WalkTask"),
}
# Runs of the first kind that are cut into rounds over shards.
IN_ROUNDS = "atomstream.runs.tasks.shards:ShardsTask"
# What the groups of commands are for.
GROUPS = {
    "image": "Clean and complete images.",
    "network": "Learn the patterns of a network around a motif.",
    "series": "Forecast and fill time series.",
    "tensor": "Learn from arrays with several axes.",
    "text": "Learn topics of documents.",
    "video": "Learn from the frames or pixels of videos.",
    "walk": "Group places or states by where a walk goes from them.",
}
