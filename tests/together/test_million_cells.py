"""The tutorial on gene programs, run as it stands on a small set of real cells."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from shared import DATA, needs_data

anndata = pytest.importorskip("anndata", reason="needs anndata, of the extra cells")
pytest.importorskip("h5py", reason="needs h5py, of the extra cells")
pytest.importorskip("matplotlib", reason="needs matplotlib, of the extra plots")

ROOT = Path(__file__).parents[2]
pytestmark = needs_data
MARKERS = {
    "B cells": {"CD79A", "CD79B", "MS4A1"},
    "cells that kill": {"NKG7", "GNLY", "GZMB"},
    "T cells": {"CD3D", "CD3E"},
    "monocytes": {"LST1", "AIF1"},
}


def test_the_tutorial_on_gene_programs_finds_the_known_kinds_of_blood_cells(
    tmp_path, monkeypatch, room
):
    stored = np.load(DATA / "blood_cells/pbmc68k_reduced_counts.npz")
    counts = sp.csr_matrix(
        tuple(stored[name] for name in ("data", "indices", "indptr")), shape=stored["shape"]
    )
    data = anndata.AnnData(counts.astype(np.float32))
    data.var_names = stored["gene"].astype(str)
    data.obs_names = [f"cell{i}" for i in range(data.n_obs)]
    data.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/how-to/million-cells.md").read_text(encoding="utf-8")
    told = {name: set(re.findall(r"\*(\w+)\*", page)) & genes for name, genes in MARKERS.items()}
    assert told == MARKERS
    known = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "import mudata" not in block or find_spec("mudata") is not None:
            exec(block, known)
    assert "mdata" in known or find_spec("mudata") is None
    found = anndata.read_h5ad(tmp_path / "annotated.h5ad")
    programs = np.nan_to_num(found.varm["programs"])
    tops = [set(found.var_names[np.argsort(-column)[:20]]) for column in programs.T]
    for name, genes in MARKERS.items():
        assert any(genes <= top for top in tops), name
    assert found.obsm["X_programs"].shape == (700, known["model"].n_components_)
    # A single pass over 700 cells is short; what it finds is the same for most programs.
    near = known["from_disk"].consensus(8).atoms @ known["model"].consensus(8).atoms.T
    room.share(np.median(near.max(axis=1)), at_least=0.8)
