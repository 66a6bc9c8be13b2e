"""Cases of laws that hold everywhere: those of the core stand at the law, and fields add theirs."""

from importlib import import_module
from pathlib import Path

import numpy as np

from atomstream.base.declared import declarations

FIELDS = Path(__file__).with_name("fields")


def of_fields(law):
    """Return the cases of all fields for a law: ``CASES`` of fields/NAME/cases/LAW.py."""
    found = {}
    for name in declarations(outside=False):
        if (FIELDS / name / "cases" / f"{law}.py").is_file():
            more = import_module(f"fields.{name}.cases.{law}").CASES
            assert not found.keys() & more.keys(), f"two fields have the same case of {law}"
            found |= more
    return found


def rows():
    """Return rows that any model of rows can learn from."""
    rng = np.random.default_rng(0)
    return rng.random((60, 3)) @ rng.random((3, 8))
