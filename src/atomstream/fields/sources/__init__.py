"""Sources of air and water: a few factors explain species with uncertainties.

Positive matrix factorization in the words of its field. Read `species` (tables of concentrations,
their uncertainties, and the field's rules), `anchors` (profiles that are known within ranges),
`apportionment` (many starts, the best Q, block bootstraps, numbers of factors), `factors`
(profiles, contributions, ranges of profiles), then `look` (profiles with per cent, series, days and
hours) and `run` (``atomstream sources``).
"""

from atomstream.fields.sources.factors import Factors, Ranges, block_rows, mapped_to, per_cent
from atomstream.fields.sources.species import SpeciesTable, read
from atomstream.fields.sources.species import read_more as read_more

__all__ = ["Factors", "Ranges", "SpeciesTable", "block_rows", "mapped_to", "per_cent", "read"]
