"""Files that runs of sources read, and what is read of them."""

from written import TABLES, write

from atomstream import sources

STRONG = dict.fromkeys("abcd", "strong")


def concentrations(kind, settings):
    """Return a table of species."""
    table = sources.read(*2 * settings.inputs, kinds=STRONG, **settings.reading())
    return table.values, table.dates


CASES = {"sources": (TABLES, write, concentrations, lambda path: {"uncertainty": str(path)})}
