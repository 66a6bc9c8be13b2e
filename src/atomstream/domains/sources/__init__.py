"""Sources of air and water: species with uncertainties, factors, ranges by block bootstraps."""

from atomstream.domains.sources.factors import Factors, Ranges, block_rows, mapped_to, per_cent
from atomstream.domains.sources.species import SpeciesTable, read
from atomstream.domains.sources.species import read_more as read_more

__all__ = ["Factors", "Ranges", "SpeciesTable", "block_rows", "mapped_to", "per_cent", "read"]
