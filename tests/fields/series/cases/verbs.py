"""Files that runs of series read, and what is read of them."""

from written import TABLES, write

from atomstream.io import read_series


def series(kind, settings):
    """Return a table over time."""
    table = read_series(settings.inputs[0], **settings.reading())
    return table.values, table.labels


CASES = {
    "series forecast": (TABLES, write, series, lambda path: {}),
    "series impute": (TABLES, write, series, lambda path: {}),
}
