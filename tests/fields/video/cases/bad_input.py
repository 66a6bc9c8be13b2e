"""Bad input to runs of videos: what is wrong, the command, and what is said of it."""

import numpy as np
from commands import run
from numpy.random import default_rng


def prepare(folder):
    from PIL import Image

    frames = default_rng(0).integers(0, 256, (40, 10, 13), np.uint8)
    np.save(folder / "v.npy", frames)
    np.savez(folder / "two.npz", v=frames, w=frames[:20])
    first, *rest = map(Image.fromarray, frames)
    first.save(folder / "v.gif", save_all=True, append_images=rest)
    few = ("--atoms", 3, "--batch-size", 4)
    run("video", "learn", folder / "v.npy", *few, "--out", folder / "frames")
    run("video", "learn", folder / "v.npy", "--mode", "pixels", *few, "--out", folder / "pixels")
    for name in ("empty.npy", "empty.gif", "x.txt"):
        (folder / name).touch()
    for name in ("none", "one", "odd"):
        (folder / name).mkdir()
    Image.fromarray(frames[0]).save(folder / "one/a.png")
    Image.fromarray(frames[0]).save(folder / "odd/a.png")
    Image.fromarray(frames[0].T).save(folder / "odd/b.png")
    holes = frames / 255
    holes[30, 2, 2] = np.nan
    shapes = {"flat": frames[0], "single": frames[:1], "five": np.ones((3, 2, 2, 3, 1))}
    for name, array in ({"nan": holes, "signed": holes[:30] - 1} | shapes).items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "texts.npy", frames.astype(str))
    (folder / "cut.gif").write_bytes((folder / "v.gif").read_bytes()[:900])


BAD = {
    "no video": ("video learn --out new", "learned from one file or folder, got 0"),
    "no such file": ("video learn gone --out new", "There is no .*gone"),
    "no images": ("video learn none --out new", "none holds no images"),
    "one frame": ("video learn one --out new", "one has 1 frame, needed are at least 2"),
    "one frame of an array": ("video learn single.npy --out new", "single.npy has 1 frame"),
    "odd frames": ("video learn odd --out new", r"Frame 1 has shape \(13, 10\), the first"),
    "odd pixels": ("video learn odd --mode pixels --out new", "Frame 1 of .*odd is of shape"),
    "an empty array": ("video learn empty.npy --out new", "empty.npy cannot be read"),
    "an empty stack": ("video learn empty.gif --out new", "empty.gif cannot be read"),
    "a cut stack": ("video learn cut.gif --out new", "cut.gif cannot be read"),
    "another ending": ("video learn x.txt --out new", "ends like no video; known are folders"),
    "a picture": ("video learn flat.npy --out new", r"has shape \(10, 13\), needed is"),
    "five axes": ("video learn five.npy --out new", r"\(3, 2, 2, 3, 1\), needed is"),
    "texts": ("video learn texts.npy --out new", "needed are numbers"),
    "NaN": (
        "video learn nan.npy --out new",
        "NaN .first in frame 30, counted from 0.; VideoDictionary needs",
    ),
    "NaN in a pixel": ("video learn nan.npy --mode pixels --out new", "in the course of a pixel"),
    "negative values": (
        "video learn signed.npy --out new",
        "needed is 0 or more; say --no-nonnegative; to find cells .*, clip them at 0.$",
    ),
    "two arrays": ("video learn two.npz --out new", "choose one with --key"),
    "a word": ("video learn v.npy --snapshots a --out new", "snapshots holds 'a', needed are"),
    "frame 0": ("video learn v.npy --snapshots 0 --out new", "at least 1, got"),
    "no frames": ("video learn v.npy --snapshots 3 --mode pixels --out new", "snapshots need"),
    "passes": ("video learn v.npy --epochs 3 --out new", "epochs is 3, but frames come once"),
    "as many passes as pixels have": (
        "video learn v.npy --epochs 10 --out new",
        "epochs is 10, but frames come once",
    ),
    "more passes": ("resume frames --epochs 20", "epochs is 20, but frames come once"),
    "another mode": ("video learn v.npy --mode rows --out new", "needed is frames or pixels"),
    "other frames": ("encode frames odd --out c.csv", r"odd: Frame 1 has shape \(13, 10\)"),
    "other video": ("encode pixels two.npz --out c.csv", "choose one with --key"),
    "shorter video": ("encode pixels one --out c.csv", "has 1 frame, the model has learned 40"),
    "an image": ("reconstruct frames v.npy", "has learned from a video and rebuilds no files"),
}

assert len(BAD) == 29
CASES = {"videos": (prepare, BAD)}
