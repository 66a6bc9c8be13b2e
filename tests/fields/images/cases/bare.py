"""What runs of images do without optional libraries."""

import numpy as np

import atomstream

CASES = {
    "image": {
        "works": [],
        "asks": [
            "image learn @photo.png --atoms 3 --out @image",
            "image denoise @photo.png --out @clean.png",
            "image inpaint @photo.png --mask @photo.png --out @whole.png",
        ],
        "calls": {
            "plots.material_map": lambda: atomstream.plots.material_map(np.eye(3, dtype=int), "ab")
        },
    },
}
