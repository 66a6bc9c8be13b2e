"""Programs and usages back into AnnData, and into the tables that other tools read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.cells.counts import Genes, batches
from atomstream.exceptions import InputError

__all__ = ["annotate", "write_tables"]


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
        ``obsm[f"X_{key}"]`` holds the usages of each cell, of sum one; ``varm[key]`` the programs,
        in units of the counts, NaN for genes that were not learned from; ``uns[key]`` the stability
        of the programs and the reason of the choice, where the model knows them.

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
    programs = np.full((data.n_vars, len(model.components_)), np.nan)
    programs[genes.places] = (model.components_ * genes.deviation).T
    data.obsm[f"X_{key}"] = usages / np.where(totals > 0, totals, 1)
    data.varm[key] = programs
    if hasattr(model, "stability_"):
        choice: Any = model.choice_  # type: ignore[attr-defined]
        data.uns[key] = {"stability": model.stability_, "reason": choice.reason}


def write_tables(
    folder: str | Path, data: Any, *, key: str = "programs", name: str = "atomstream"
) -> list[Path]:
    """Write usages and programs as the tables of the common pipeline of consensus NMF.

    Parameters
    ----------
    folder : path
        Of ``<name>.usages.k_<k>.dt_0_5.consensus.txt`` (cells x programs) and
        ``<name>.spectra.k_<k>.dt_0_5.consensus.txt`` (programs x genes), with tabs.
    data : AnnData
        After `annotate`.
    key : str, default="programs"
        As in `annotate`.
    name : str, default="atomstream"

    Returns
    -------
    list of pathlib.Path
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    if f"X_{key}" not in data.obsm:
        raise ValueError(f"data has no obsm['X_{key}']; call annotate first.")
    usages, programs = np.asarray(data.obsm[f"X_{key}"]), np.asarray(data.varm[key])
    learned = ~np.isnan(programs).any(axis=1)
    numbers = [str(number + 1) for number in range(usages.shape[1])]
    ending = f"k_{usages.shape[1]}.dt_0_5.consensus.txt"
    tables = {
        "usages": (numbers, data.obs_names, usages),
        "spectra": (data.var_names[learned], numbers, programs[learned].T),
    }
    written = []
    for kind, (heads, names, values) in tables.items():
        written.append(folder / f"{name}.{kind}.{ending}")
        _write(written[-1], list(heads), names, values)
    return written


def _write(path: Path, heads: Sequence[str], names: Iterable[str], values: NDArray) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["", *heads])
        writer.writerows([row, *cells] for row, cells in zip(names, values.tolist(), strict=True))
