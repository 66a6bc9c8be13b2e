"""Commands on images that work for much longer than a test waits."""

from functools import cache

import numpy as np
import pytest

from atomstream.cli import main


@cache
def pictures(folder):
    """Write pictures, and learn from a small one."""
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (900, 1200, 3)).astype(np.uint8)
    mask = 255 * (pixels[:, :, 0] < 99).astype(np.uint8)
    for large, small, part in (("large", "small", pixels), ("mask", "small-mask", mask)):
        pillow.fromarray(part).save(folder / f"{large}.png")
        pillow.fromarray(part[:90, :120]).save(folder / f"{small}.png")
    image = ["image", "learn", str(folder / "small.png"), "--atoms", "128", "--patches", "2000"]
    assert main([*image, "--out", str(folder / "image")]) == 0


def compiled(verb, *words):
    """Return what prepares a folder, and compiles before: LLVM hears no signals."""

    def prepare(folder):
        pictures(folder)
        given = ["image", verb, str(folder / "small.png"), "--model", str(folder / "image")]
        more = [str(folder / word) if "." in word else word for word in words]
        assert main([*given, *more, "--out", str(folder / f"small-{verb}.png")]) == 0

    return prepare


CASES = {
    "denoise": {
        "command": "image denoise large.png --model image --out out.png",
        "prepare": compiled("denoise"),
        "is_short": True,
    },
    "inpaint": {
        "command": "image inpaint large.png --mask mask.png --model image --out out.png --jobs 2",
        "prepare": compiled("inpaint", "--mask", "small-mask.png"),
    },
    "reconstruct": {
        "command": "reconstruct image large.png --stride 1 --out out.png",
        "prepare": compiled("inpaint", "--mask", "small-mask.png"),
    },
}
