"""Folders of runs that an earlier version left: those of the core, and those of fields."""

import shutil

from cases import FIELDS

from atomstream.base.declared import declarations

OF_FIELDS = (FIELDS / name / "golden/runs" for name in declarations(outside=False))
PLACES = [FIELDS.with_name("golden") / "runs", *(path for path in OF_FIELDS if path.is_dir())]
KEPT = {path.parent.name: path.parent for place in PLACES for path in place.glob("*/run.toml")}


def copied(folder):
    """Copy all runs to a folder, with their inputs beside them."""
    for place in PLACES:
        shutil.copytree(place, folder, dirs_exist_ok=True)
    return folder
