"""Atoms of series have the same number before they changed and after."""

import re

import numpy as np
from fields.series.cases.atom_numbers import series
from numpy.testing import assert_allclose

from atomstream import plots


def test_changes_name_the_same_atoms():
    model = series()
    moved = [
        re.match(r"atom (\d+): (\d+) %", a.get_title()) for a in plots.series_change(model).axes
    ]
    told = {int(each[1]): int(each[2]) for each in moved if each}
    before, after = (part.reshape(4, -1) for part in (model.initial_atoms_, model.atoms_))
    cosines = (
        (before * after).sum(1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    )
    assert_allclose([told[atom] for atom in range(4)], 100 * (1 - cosines), atol=0.51)
