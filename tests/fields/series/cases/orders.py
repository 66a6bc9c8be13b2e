"""The atoms of series in an order."""

from fields.series.cases.gallery import waves

from atomstream import plots

CASES = {
    "series_atoms": (waves, None, lambda m, order: plots.series_atoms_data(m, order=order)[0]),
}
