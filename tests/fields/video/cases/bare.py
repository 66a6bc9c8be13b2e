"""What runs of videos do without optional libraries."""


def prepare(folder):
    for name in ("film.mp4", "film.tif"):
        (folder / name).write_bytes(b"anything")


CASES = {
    "video": {
        "prepare": prepare,
        "works": [],
        "asks": [
            "video learn @film.mp4 --atoms 2 --out @video",
            "video learn @film.tif --atoms 2 --out @pages",
        ],
    },
}
