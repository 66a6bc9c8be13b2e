"""Data of one kind per folder, without learning: networks, series, images, text, walks, cells."""

import lazy_loader

# By libraries: the functions of fields that say what to give of their objects, none of which is a
# table by itself.
INSTEAD = dict.fromkeys(("anndata", "mudata"), "atomstream.domains.cells.files:instead")

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules={
        "cells",
        "images",
        "networks",
        "series",
        "signatures",
        "sources",
        "tensors",
        "text",
        "walks",
    },
)
