"""Programs and usages back into AnnData."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.cells.counts import Genes, batches


class Programs(Protocol):
    """A fitted dictionary of gene programs."""

    @property
    def components_(self) -> NDArray:
        """The programs, (n_components, n_genes)."""

    def transform(self, X: Any) -> NDArray:
        """Return the usages of cells."""


def annotate(data: Any, model: Programs, genes: Genes, *, key: str = "programs") -> None:
    """Put usages into ``obsm`` and programs into ``varm`` of AnnData, in place.

    Parameters
    ----------
    data : AnnData
        All cells are coded, block by block. Data on disk keep what is added in memory.
    model : ConsensusNMF, OnlineNMF
        Learned from ``batches(data, genes)``.
    genes : Genes
    key : str, default="programs"
        ``obsm[f"X_{key}"]`` holds the usages of each cell, of sum one, and ``obs[f"{key}_total"]``
        what they were divided by; ``varm[key]`` the programs, in units of the counts, and
        ``var[f"{key}_deviation"]`` the deviations of the genes, both NaN for genes that were not
        learned from; ``uns[key]`` the stability of the programs and the reason of the choice, where
        the model knows them.

    Raises
    ------
    ValueError
        For a model of other genes.
    """
    if model.components_.shape[1] != len(genes.places):
        raise ValueError(
            f"The model has {model.components_.shape[1]} features, genes has {len(genes.places)}; "
            "they must agree."
        )
    usages = np.concatenate([model.transform(block) for block in batches(data, genes)])
    totals = usages.sum(axis=1, keepdims=True)
    programs = np.full((data.n_vars, usages.shape[1]), np.nan)
    deviation = np.full(data.n_vars, np.nan)
    deviation[genes.places] = genes.deviation
    programs[genes.places] = (model.components_ * genes.deviation).T
    data.obsm[f"X_{key}"] = usages / np.where(totals > 0, totals, 1)
    data.obs[f"{key}_total"] = totals[:, 0]
    data.varm[key], data.var[f"{key}_deviation"] = programs, deviation
    if hasattr(model, "stability_"):
        choice: Any = model.choice_  # type: ignore[attr-defined]
        data.uns[key] = {"stability": model.stability_, "reason": choice.reason}
