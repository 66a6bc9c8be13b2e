"""The order of the examples: by what they are about, pictures first."""

THEMES = (
    "image",
    "video",
    "text",
    "cells",
    "signal",
    "series",
    "network",
    "walk",
    "tensor",
    "data",
)


class ByTheme:
    """Sorts the files of examples by their first word, which names a theme."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the place of the theme, and the name."""
        return THEMES.index(filename.split("_")[1]), filename
