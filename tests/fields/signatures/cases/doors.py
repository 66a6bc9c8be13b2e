"""Calls of what takes counts of mutations, and exposures."""

from given import CODES, COUNTS, framed

from atomstream import signatures
from atomstream.looks import plots

CASES = {
    "fields.signatures.ChannelTable(values)": (
        COUNTS,
        lambda X: signatures.ChannelTable(X, list("abcd"), list("vwxyz")).values,
    ),
    "fields.signatures.read(source)": (COUNTS, lambda X: signatures.read(framed(X)).values),
    "looks.plots.exposures_data(values)": (CODES, lambda X: plots.exposures_data(X)[1]),
}
assert len(CASES) == 3
