"""Files of frames, damaged by `fuzz.py`, and how each is read."""

import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from fuzz_files import MEMBER, X, saved

from atomstream.exceptions import InputError
from atomstream.fields.video.frames import as_frames


def zarr():
    import zarr

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zarr"
        zarr.create_array(str(path), data=X.reshape(7, 3, 1), chunks=(3, 3, 1))
        files = sorted(file for file in path.rglob("*") if file.is_file())
        named = [(str(file.relative_to(path)).encode(), file.read_bytes()) for file in files]
    return MEMBER.join(part for pair in named for part in pair)


def pages():
    from PIL import Image

    made = [Image.fromarray(np.full((4, 5), value, np.uint8)) for value in (3, 200, 90)]
    return saved(lambda f: made[0].save(f, format="tiff", save_all=True, append_images=made[1:]))


def frames_of(path):
    try:
        return sum(frame.size for frame in as_frames(str(path)))
    except ValueError as error:  # what people read in Python, too
        raise InputError(str(error)) from error


def zipped(data):
    """Write the parts of damaged content as the members of an archive."""
    file, parts = io.BytesIO(), data.split(MEMBER)
    names = (part.decode("latin-1").replace("\0", "") or "x" for part in parts[::2])
    contents = dict(zip(names, parts[1::2], strict=False))
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


CASES = {
    "video": ("x.npy", lambda: [saved(np.save, np.zeros((3, 2, 2)))], frames_of, None),
    "video.npz": ("x.npz", lambda: [saved(np.savez, np.zeros((3, 2, 2)))], frames_of, None),
    "video.zarr": ("x.zarr.zip", lambda: [zarr()], frames_of, zipped),
    "video.tif": ("x.tif", lambda: [pages()], frames_of, None),
}
