"""Fields: what is of one kind of data or one paper alone, each a folder that can be taken out.

Its ``field.toml`` declares what a field adds to models, runs, looks, files and commands
(`atomstream.base.declared`); nothing else in the package names it.
"""

from importlib import import_module
from typing import Any

from atomstream.base.declared import declarations


def __getattr__(name: str) -> Any:
    """Return the package of a field."""
    if name in declarations(outside=False):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"there is no field {name!r}")
