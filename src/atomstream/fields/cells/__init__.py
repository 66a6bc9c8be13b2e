"""Cells: gene programs of counts of genes in cells.

`files` opens AnnData, MuData and the folders and files of 10x, and says what to give of them in
place of a table. `counts` reads counts in blocks that stay on disk: the genes that vary more than
their mean explains, each over its standard deviation. `programs` names programs by their genes and
writes tables as cNMF does (Kotliar et al., 2019).
"""

from atomstream.fields.cells.counts import Cells as Cells
from atomstream.fields.cells.counts import Genes, batches, overdispersed
from atomstream.fields.cells.files import read
from atomstream.fields.cells.programs import annotate, top_genes, write_tables

__all__ = ["Genes", "annotate", "batches", "overdispersed", "read", "top_genes", "write_tables"]
