"""A golden model of frames: how it was learned, and what it gives."""

from pathlib import Path

from atomstream import VideoDictionary

HERE = Path(__file__).parents[1] / "golden"


def learned(frames):
    return VideoDictionary(n_components=3, n_epochs=10, snapshots=(5, 20), random_state=0).fit(
        frames
    )


def video(model, frames):
    yield "components", model.components_
    yield "snapshots", model.snapshots_
    yield "times", model.snapshot_times_
    yield "transform", model.transform(frames)
    yield "reconstruct", model.reconstruct(frames)
    yield "after_components", model.partial_fit(frames).components_


CASES = {"VideoDictionary": (HERE, learned, video)}
assert len(CASES) == 1
