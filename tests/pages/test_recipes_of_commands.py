"""The recipes for programs of cells, run with the tools that they name where these are there."""

import numpy as np
import pytest
import scipy.sparse as sp
from pages import block

from atomstream import ConsensusNMF, cells


def counted():
    """Return AnnData of 300 cells that use four programs of 120 genes, and places of the cells."""
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    usages, programs = rng.gamma(0.5, 1, (300, 4)), rng.gamma(0.3, 1, (4, 120))
    data = anndata.AnnData(sp.csr_matrix(rng.poisson(3 * usages @ programs).astype(np.float32)))
    data.obs_names = [f"cell{number}" for number in range(300)]
    data.var_names = [f"gene{number}" for number in range(120)]
    data.obsm["spatial"] = rng.random((300, 2))
    return data


def ran(title):
    """Run the recipe of a section with few replicates; return its names."""
    source, known = block("docs/recipes/science.md", title), {}
    small = source.replace("range(5, 21), n_replicates=50", "range(3, 6), n_replicates=10")
    small = small.replace("n_shared=15, n_own=3", "n_shared=3, n_own=1").replace("2000", "60")
    assert small != source
    exec(compile(small, title, "exec"), known)
    return known


@pytest.mark.filterwarnings("default")
def test_mudata_in_and_out(tmp_path, monkeypatch):
    mudata = pytest.importorskip("mudata", reason="mudata is not installed")
    monkeypatch.chdir(tmp_path)
    data = counted()
    mudata.MuData({"rna": data, "protein": data[:, :5].copy()}).write("cells.h5mu")
    usages = ran("MuData")["rna"].obsm["X_programs"]
    again = mudata.read_h5mu("annotated.h5mu").mod["rna"]
    np.testing.assert_array_equal(again.obsm["X_programs"], usages)
    np.testing.assert_allclose(usages.sum(axis=1), 1, rtol=1e-5)
    alone = mudata.read_h5ad("cells.h5mu", "rna", backed="r")
    np.testing.assert_array_equal(
        cells.overdispersed(alone).places, cells.overdispersed(data).places
    )


@pytest.mark.filterwarnings("default")
def test_several_data_sets_in_mudata(tmp_path, monkeypatch):
    mudata = pytest.importorskip("mudata", reason="mudata is not installed")
    monkeypatch.chdir(tmp_path)
    data, labs = counted(), np.repeat(["first", "second"], 150)
    both = mudata.MuData({"rna": data, "protein": data[:, :5].copy()})
    both.obs["lab"] = labs
    both.write("labs.h5mu")
    known = ran("Several data sets in MuData")
    again = mudata.read_h5mu("annotated-labs.h5mu").mod["rna"]
    usages = again.obsm["X_programs"]
    np.testing.assert_array_equal(usages, known["rna"].obsm["X_programs"])
    assert usages.shape == (300, 3 + 2 * 1)
    for column, lab in ((3, "first"), (4, "second")):
        assert usages[labs == lab, column].any()
        assert not usages[labs != lab, column].any()


@pytest.mark.filterwarnings("default")
def test_tables_of_spatialdata_in_and_out(tmp_path, monkeypatch):
    spatialdata = pytest.importorskip("spatialdata", reason="spatialdata is not installed")
    monkeypatch.chdir(tmp_path)
    spatialdata.SpatialData(tables={"table": counted()}).write("spots.zarr")
    known = ran("SpatialData")
    again = spatialdata.read_zarr("annotated.zarr").tables["table"]
    np.testing.assert_array_equal(again.obsm["X_programs"], known["table"].obsm["X_programs"])
    on_disk = cells.read("spots.zarr/tables/table")
    blocks = cells.batches(on_disk, cells.overdispersed(on_disk))
    same = ConsensusNMF(range(3, 6), n_replicates=10, random_state=0).fit_stream(blocks)
    np.testing.assert_array_equal(same.components_, known["model"].components_)
