"""Runs of the command line, each in a folder of its own: which kinds there are."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """The command that begins a kind of run, the place of its task, and its line of help."""

    command: str
    place: str
    summary: str


_PLACE = "atomstream.runs.tasks."
# By the name that a run.toml has; runs on rows, which came first, have none.
TASKS = {
    "": Kind("learn", f"{_PLACE}rows:RowsTask", "Learn a dictionary from INPUTS."),
    "consensus": Kind(
        "consensus",
        f"{_PLACE}consensus:ConsensusTask",
        "Find how many atoms there are, and which of them come back.",
    ),
    "image": Kind(
        "image learn",
        f"{_PLACE}image:ImageTask",
        "Learn a dictionary of patches that serves denoise and inpaint.",
    ),
    "network": Kind(
        "network learn",
        f"{_PLACE}network:NetworkTask",
        "Learn the patterns of a network around a motif.",
    ),
    "series forecast": Kind(
        "series forecast", f"{_PLACE}series:ForecastTask", "Forecast the series in TABLE."
    ),
    "series impute": Kind(
        "series impute",
        f"{_PLACE}series:ImputeTask",
        "Fill the missing entries of the series in TABLE.",
    ),
    "signatures": Kind(
        "signatures",
        f"{_PLACE}signatures:SignaturesTask",
        "Find mutational signatures and the exposures of samples.",
    ),
    "tensor": Kind(
        "tensor learn",
        f"{_PLACE}tensor:TensorTask",
        "Learn a dictionary of rank-one atoms from samples that are tensors.",
    ),
    "text": Kind("text topics", f"{_PLACE}text:TextTask", "Learn topics from documents."),
    "video": Kind(
        "video learn",
        f"{_PLACE}video:VideoTask",
        "Learn a dictionary of the frames, or of the pixels, of a video.",
    ),
    "walk": Kind(
        "walk partition",
        f"{_PLACE}walk:WalkTask",
        "Partition places by the trips between them, or the states of a walk.",
    ),
}
# Runs of the first kind that are cut into rounds over shards.
IN_ROUNDS = f"{_PLACE}shards:ShardsTask"
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
