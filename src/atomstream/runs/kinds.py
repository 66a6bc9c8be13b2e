"""Which kinds of runs there are, and the commands that begin them."""

from typing import NamedTuple


class Kind(NamedTuple):
    """The command that begins a kind of run, and its line of help."""

    command: str
    summary: str


# By the name that a run.toml has; runs on rows, which came first, have none. The task
# of "series forecast" is ForecastTask in tasks/series.py, and so on.
TASKS = {
    "": Kind("learn", "Learn a dictionary from INPUTS."),
    "consensus": Kind("consensus", "Find how many atoms there are, and which of them come back."),
    "image": Kind("image learn", "Learn a dictionary of patches that serves denoise and inpaint."),
    "network": Kind("network learn", "Learn the patterns of a network around a motif."),
    "series forecast": Kind("series forecast", "Forecast the series in TABLE."),
    "series impute": Kind("series impute", "Fill the missing entries of the series in TABLE."),
    "signatures": Kind("signatures", "Find mutational signatures and the exposures of samples."),
    "sources": Kind("sources", "Find sources of air or water from species with uncertainties."),
    "tensor": Kind(
        "tensor learn", "Learn a dictionary of rank-one atoms from samples that are tensors."
    ),
    "text": Kind("text topics", "Learn topics from documents."),
    "video": Kind("video learn", "Learn a dictionary of the frames, or of the pixels, of a video."),
    "walk": Kind(
        "walk partition", "Partition places by the trips between them, or the states of a walk."
    ),
}
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
