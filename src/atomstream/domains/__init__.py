"""Data of one kind per folder, without learning: networks, series, images, text, walks, cells."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules={
        "images",
        "networks",
        "series",
        "signatures",
        "sources",
        "text",
    },
)
