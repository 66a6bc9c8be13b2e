"""Images that a model has rebuilt: where they go, and how close they are."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.io import check_out, existing, image_format, write_image
from atomstream.io.outputs import PixelFormat
from atomstream.io.pixels import psnr
from atomstream.looks import Record


def place_of_image(record: Record, source: Path, out: Path | None) -> Path:
    """Return where a rebuilt image goes: by default among the figures of the run."""
    existing(source)
    if out is None:
        out = record.folder / "figures" / f"{source.stem}-reconstructed.png"
        out.parent.mkdir(parents=True, exist_ok=True)
    check_out(out, source)
    image_format(out)
    return out


def write_rebuilt(
    out: Path, pixels: NDArray, rebuilt: NDArray, form: PixelFormat
) -> dict[str, Any]:
    """Write a rebuilt image, and return where and how close it is."""
    rebuilt = np.clip(rebuilt, 0, 1)
    write_image(out, rebuilt, form)
    return {"out": str(out), "psnr": round(psnr(pixels, rebuilt), 3)}
