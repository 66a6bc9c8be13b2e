"""Files that runs of videos read, and what is read of them."""

import numpy as np
from written import rng

from atomstream.fields.video.frames import as_frames


def write_video(path, entry, _):
    """Write the frames of a video."""
    frames = rng.integers(0, 255, (5, 6, 7, 3)).astype("u1")
    np.save(path, frames) if path.suffix == ".npy" else np.savez(path, only=frames)


def frames(kind, settings):
    """Return the frames."""
    return [*as_frames(settings.opened(), grey=settings.grey)]


CASES = {"video": ((".npy", ".npz"), write_video, frames, lambda path: {})}
