"""Cells and genes: AnnData in, in blocks that stay on disk, and programs and usages out."""

from atomstream.domains.cells.counts import Cells as Cells
from atomstream.domains.cells.counts import Genes, batches, overdispersed
from atomstream.domains.cells.files import read
from atomstream.domains.cells.programs import annotate, top_genes, write_tables

__all__ = ["Genes", "annotate", "batches", "overdispersed", "read", "top_genes", "write_tables"]
