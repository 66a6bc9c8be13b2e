"""Cells and genes: AnnData in memory, on disk and as Cell Ranger writes it, in and out."""

import gzip
import logging
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import mmwrite
from scipy.optimize import nnls

from atomstream import BatchNMF, OnlineNMF, cells
from atomstream.exceptions import DataWarning, InputError

anndata = pytest.importorskip("anndata", reason="needs anndata, of the extra cells")
h5py = pytest.importorskip("h5py", reason="needs h5py, of the extra cells")
zarr = pytest.importorskip("zarr", reason="needs zarr, of the extra cells")

rng = np.random.default_rng(0)
MEANS = rng.gamma(2, 1, 60)
PROGRAM = np.zeros(60)
PROGRAM[[3, 14, 27, 41]] = 6
COUNTS = rng.poisson(MEANS + np.outer(rng.random(300) < 0.2, PROGRAM))
CELLS, GENES = [f"cell{i}" for i in range(300)], [f"gene{i}" for i in range(60)]


@pytest.fixture
def data():
    made = anndata.AnnData(sp.csr_matrix(COUNTS.astype(np.float32)))
    made.obs_names, made.var_names = CELLS, GENES
    return made


def test_genes_that_vary_beyond_their_means_are_chosen(data):
    genes = cells.overdispersed(data, 4)
    assert_array_equal(genes.places, [3, 14, 27, 41])
    assert list(genes.names) == ["gene3", "gene14", "gene27", "gene41"]
    assert_allclose(genes.deviation, COUNTS[:, genes.places].std(axis=0))


def test_batches_are_the_rows_in_units_of_their_deviation(data):
    genes = cells.overdispersed(data, 10)
    blocks = list(cells.batches(data, genes, batch_size=70))
    assert [block.shape[0] for block in blocks] == [70, 70, 70, 70, 20]
    expected = COUNTS[:, genes.places] / COUNTS[:, genes.places].std(axis=0)
    assert_allclose(sp.vstack(blocks).toarray(), expected, rtol=1e-6)


def test_genes_are_found_by_name_in_other_data(data):
    genes = cells.overdispersed(data, 10)
    turned = data[:, ::-1].copy()
    blocks = [sp.vstack([*cells.batches(each, genes)]).toarray() for each in (data, turned)]
    assert_array_equal(blocks[1], blocks[0])
    model = OnlineNMF(2, random_state=0, n_epochs=2)
    model.fit(pd.DataFrame(blocks[0], columns=genes.names)[genes.names[::-1]])
    for each in (data, turned):
        cells.annotate(each, model, genes)
    assert_allclose(turned.obsm["X_programs"], data.obsm["X_programs"])
    assert_allclose(turned.varm["programs"][::-1], data.varm["programs"])
    backwards = cells.Genes(genes.places[::-1], genes.names[::-1], genes.deviation[::-1])
    assert (cells.top_genes(model, genes) == cells.top_genes(model, backwards)).all(axis=None)
    with pytest.raises(InputError, match="The data have other genes than were chosen: missing"):
        next(iter(cells.batches(data[:, :20].copy(), genes)))
    twice = data.copy()
    spare = next(name for name in GENES if name not in genes.names)
    twice.var_names = ["gene14" if name == spare else name for name in GENES][::-1]
    with pytest.raises(InputError, match="'gene14' stands for two columns"):
        next(iter(cells.batches(twice, genes)))


def test_files_of_all_kinds_hold_the_same_cells(data, tmp_path):
    data.write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        stored = sp.csr_matrix(COUNTS)
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(stored, name)
        file["matrix/shape"] = COUNTS.shape[::-1]
        file["matrix/barcodes"] = np.array(CELLS, "S")
        file["matrix/features/name"] = np.array(GENES, "S")
    (tmp_path / "folder").mkdir()
    mmwrite(tmp_path / "folder/matrix.mtx", sp.coo_matrix(COUNTS.T))
    (tmp_path / "folder/barcodes.tsv").write_text("\n".join(CELLS) + "\n")
    with gzip.open(tmp_path / "folder/features.tsv.gz", "wt") as file:
        file.writelines(f"id\t{gene}\tGene Expression\n" for gene in GENES)
    write_zarr(data, tmp_path / "x.zarr")
    expected = cells.overdispersed(data, 10)
    for name in ("x.h5ad", "x.h5", "folder", "x.zarr"):
        found = cells.read(tmp_path / name)
        assert list(found.obs_names) == CELLS
        genes = cells.overdispersed(found, 10)
        assert_array_equal(genes.names, expected.names)
        blocks = sp.vstack(list(cells.batches(found, genes))).toarray()
        assert_allclose(blocks * genes.deviation, COUNTS[:, genes.places], rtol=1e-6)


def write_zarr(data, path):
    """Write a Zarr store; anndata warns that the next release will write another version of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        data.write_zarr(path)


def test_counts_of_a_zarr_store_stay_there_and_programs_are_written_beside_them(data, tmp_path):
    data.obsm["X_umap"] = rng.random((300, 2))
    write_zarr(data, tmp_path / "x.zarr")
    found = cells.read(tmp_path / "x.zarr")
    assert not sp.issparse(found.X)
    genes = cells.overdispersed(found, 10)
    model = OnlineNMF(3, random_state=0).fit_stream(cells.batches(found, genes))
    cells.annotate(found, model, genes)
    write_zarr(found, tmp_path / "y.zarr")
    again = cells.read(tmp_path / "y.zarr")
    assert_array_equal(again.X[:].toarray(), COUNTS)
    assert_array_equal(again.obsm["X_umap"], data.obsm["X_umap"])
    assert_array_equal(again.obsm["X_programs"], found.obsm["X_programs"])
    assert_array_equal(again.varm["programs"], found.varm["programs"])
    data.X = COUNTS.astype(np.float32)  # dense stores stay on disk too
    write_zarr(data, tmp_path / "z.zarr")
    assert_array_equal(
        cells.overdispersed(cells.read(tmp_path / "z.zarr"), 10).places, genes.places
    )


def test_what_a_zarr_store_claims_is_held_against_the_budget(data, tmp_path):
    write_zarr(data, tmp_path / "x.zarr")
    group = zarr.open_group(tmp_path / "x.zarr", mode="a")
    group["obsm"].create_array("lie", shape=(300, 2**34), chunks=(1, 2**10), dtype="f8")
    zarr.consolidate_metadata(group.store)
    with pytest.raises(InputError, match=r"'obsm/lie' of .* needs about 82\.5 TB of memory"):
        cells.read(tmp_path / "x.zarr")


def test_usages_and_programs_go_back_and_into_tables(data, tmp_path):
    genes = cells.overdispersed(data, 20)
    model = OnlineNMF(3, random_state=0).fit_stream(cells.batches(data, genes))
    cells.annotate(data, model, genes)
    usages, programs = data.obsm["X_programs"], data.varm["programs"]
    top = cells.top_genes(model, genes, 4)
    assert list(top.columns) == ["program_0", "program_1", "program_2"]
    for number, names in enumerate(top.to_numpy().T):
        order = np.argsort(-model.components_[number], kind="stable")[:4]
        assert [*names] == [*genes.names[order]]
    assert_allclose(usages.sum(axis=1), 1, rtol=1e-6)
    assert np.isnan(programs).any(axis=1).sum() == 40
    assert_allclose(programs[genes.places].T, model.components_ * genes.deviation)
    paths = cells.write_tables(tmp_path, data, name="mine")
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        "mine/mine.usages.k_3.dt_0_5.consensus.txt",
        "mine/mine.spectra.k_3.dt_0_5.consensus.txt",
        "mine/mine.gene_spectra_score.k_3.dt_0_5.txt",
        "mine/mine.gene_spectra_tpm.k_3.dt_0_5.txt",
        "mine/mine.overdispersed_genes.txt",
    ]
    tables = [pd.read_csv(path, sep="\t", index_col=0) for path in paths[:4]]
    coded = np.concatenate([model.transform(block) for block in cells.batches(data, genes)])
    assert list(tables[0].index) == CELLS
    assert list(tables[0].columns) == ["1", "2", "3"]
    assert_allclose(tables[0], coded, rtol=1e-5)
    assert_allclose(tables[0].div(tables[0].sum(axis=1), axis=0), usages, rtol=1e-5)
    assert list(tables[1].columns) == list(genes.names) == paths[4].read_text().split("\n")
    assert_allclose(
        tables[1], model.components_ / model.components_.sum(axis=1, keepdims=True), rtol=1e-5
    )
    # What the pipeline computes with everything in memory.
    transcripts = COUNTS / COUNTS.sum(axis=1, keepdims=True) * 1e6
    standard = (transcripts - transcripts.mean(axis=0)) / transcripts.std(axis=0)
    assert list(tables[2].columns) == list(tables[3].columns) == GENES
    assert_allclose(tables[2], np.linalg.pinv(coded) @ standard, rtol=1e-4, atol=1e-9)
    shares = np.asarray(usages, float)
    assert_allclose(tables[3].T, [nnls(shares, gene)[0] for gene in transcripts.T], rtol=1e-6)


def test_what_a_file_claims_is_held_against_the_budget(data, tmp_path):
    data.write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        file["obs"].create_dataset("lie", shape=(300, 2**34), chunks=(1, 2**10), dtype="f8")
    with pytest.raises(InputError, match=r"'obs/lie' of .* needs about 82\.5 TB of memory"):
        cells.read(tmp_path / "x.h5ad")


def test_a_folder_whose_matrix_claims_more_cells_than_are_named_is_refused(tmp_path):
    head = "%%MatrixMarket matrix coordinate integer general\n"
    (tmp_path / "matrix.mtx").write_text(head + "2 77777777771 1\n1 1 5\n")
    (tmp_path / "barcodes.tsv").write_text("cell\n")
    (tmp_path / "genes.tsv").write_text("1\ta\n2\tb\n")
    with pytest.raises(InputError, match="77777777771 x 2 counts, 1 cells and 2 genes"):
        cells.read(tmp_path)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, 1e30])
def test_what_is_no_count_is_refused(data, value):
    data.X[17, 3] = value
    with pytest.raises(
        InputError, match=r"Counts must lie between 0 and 1e\+15, got .* of gene 3 in cell 17, "
    ):
        cells.overdispersed(data, 4)


def test_what_does_not_fit_is_refused(data, tmp_path):
    genes = cells.overdispersed(data, 20)
    model = OnlineNMF(3, random_state=0).fit(COUNTS.astype(float))
    with pytest.raises(ValueError, match="The model has 60 features, genes has 20"):
        cells.annotate(data, model, genes)
    with pytest.raises(ValueError, match="features, genes has"):
        cells.top_genes(model, genes)
    with pytest.raises(ValueError, match="call annotate first"):
        cells.write_tables(tmp_path, data)
    with pytest.raises(InputError, match="There is no"):
        cells.read(tmp_path / "none.h5ad")
    with pytest.raises(InputError, match=r"has no matrix\.mtx"):
        cells.read(tmp_path)


def test_cells_of_several_data_sets_are_learned_and_coded_by_their_names(data):
    data.obs["lab"] = pd.Categorical(["first"] * 100 + ["second"] * 200)
    genes = cells.overdispersed(data, 10)
    pairs = list(cells.batches(data, genes, batch_size=100, batch_key="lab"))
    assert [set(names) for _, names in pairs] == [{"first"}, {"second"}, {"second"}]
    expected = sp.vstack(list(cells.batches(data, genes))).toarray()
    assert_array_equal(sp.vstack([rows for rows, _ in pairs]).toarray(), expected)
    model = BatchNMF(2, 1, data_sets=["first", "second"], random_state=0)
    model.fit_stream(pairs * 3)
    cells.annotate(data, model, genes, batch_key="lab")
    usages = data.obsm["X_programs"]
    assert usages.shape == (300, 4)
    assert not usages[:100, 3].any()
    assert not usages[100:, 2].any()
    assert usages[:100, 2].any()
    assert usages[100:, 3].any()


# -- layers, logged counts, other features, prefixes


@pytest.fixture
def logged(data):
    """Data whose X was normalised and logged, with counts in a layer and in raw."""
    counts = data.X.copy()
    data.layers["counts"] = counts
    data.raw = anndata.AnnData(counts, var=pd.DataFrame(index=[f"raw{i}" for i in range(60)]))
    data.X = sp.csr_matrix(np.log1p(counts.toarray() * 0.7))
    return data


@pytest.mark.parametrize("name", ["x.h5ad", "x.zarr"])
def test_a_key_chooses_a_matrix_and_a_wrong_one_is_refused(logged, tmp_path, name):
    (write_zarr if name.endswith("zarr") else anndata.AnnData.write_h5ad)(logged, tmp_path / name)
    for key, matrix, first in (
        ("X", logged.X, "gene0"),
        ("layers/counts", logged.layers["counts"], "gene0"),
        ("raw/X", logged.raw.X, "raw0"),
    ):
        found = cells.read(tmp_path / name, key)
        assert found.var_names[0] == first
        assert list(found.obs_names) == CELLS
        genes = cells.overdispersed(found, 60)
        rows = sp.vstack([*cells.batches(found, genes)]).toarray() * genes.deviation
        assert_allclose(rows, matrix.toarray()[:, genes.places], rtol=1e-6)
    with pytest.raises(InputError, match=r"'no/such'; it has X, layers/counts, raw/X\.$"):
        cells.read(tmp_path / name, "no/such")


def test_that_counts_were_logged_is_said_with_what_to_give(logged, tmp_path):
    logged.write_h5ad(tmp_path / "x.h5ad")
    write_zarr(logged, tmp_path / "x.zarr")
    for name in ("x.h5ad", "x.zarr"):
        with pytest.warns(DataWarning, match=r"x\..* does not hold whole .* key='layers/counts'"):
            cells.read(tmp_path / name)
        cells.overdispersed(cells.read(tmp_path / name, "X"))  # it was asked for
    with pytest.warns(DataWarning, match=r"AnnData with data\.layers\['counts'\] as X"):
        cells.overdispersed(logged)
    del logged.layers["counts"]
    logged.raw = None
    cells.overdispersed(logged)  # shares of reads are not whole either
    logged.uns["log1p"] = {"base": None}
    logged.write_h5ad(tmp_path / "y.h5ad")
    with pytest.warns(DataWarning, match=r"was logged \(uns has 'log1p'\); .* as they were before"):
        cells.read(tmp_path / "y.h5ad")


TYPES = ["Gene Expression"] * 50 + ["Antibody Capture"] * 10
NO_GENES = "10 features that are no genes left out (Antibody Capture)."


def write_cell_ranger(folder, prefix=""):
    """Write counts of genes and antibodies as Cell Ranger does."""
    folder.mkdir(exist_ok=True)
    mmwrite(folder / f"{prefix}matrix.mtx", sp.coo_matrix(COUNTS.T))
    (folder / f"{prefix}barcodes.tsv").write_text("\n".join(CELLS) + "\n")
    lines = (f"id\t{gene}\t{kind}\r\n" for gene, kind in zip(GENES, TYPES, strict=True))
    with gzip.open(folder / f"{prefix}features.tsv.gz", "wt", newline="") as file:
        file.writelines(lines)


def test_features_that_are_no_genes_are_left_out_and_told(data, tmp_path, caplog):
    write_cell_ranger(tmp_path / "folder", "GSM123_lung_")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        stored = sp.csr_matrix(COUNTS)
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(stored, name)
        file["matrix/shape"] = COUNTS.shape[::-1]
        file["matrix/barcodes"] = np.array(CELLS, "S")
        file["matrix/features/name"] = np.array(GENES, "S")
        file["matrix/features/feature_type"] = np.array(TYPES, "S")
    for name in ("folder", "x.h5"):
        caplog.clear()
        with caplog.at_level(logging.INFO, "atomstream.io.source"):
            found = cells.read(tmp_path / name)
        assert [record.getMessage() for record in caplog.records] == [
            f"{tmp_path / name}: {NO_GENES}"
        ]
        assert_array_equal(found.X.toarray(), COUNTS[:, :50])
        others = cells.read(tmp_path / name, "Antibody Capture")
        assert_array_equal(others.X.toarray(), COUNTS[:, 50:])
        with pytest.raises(InputError, match="it has Antibody Capture, Gene Expression"):
            cells.read(tmp_path / name, "Peaks")
    data.var["feature_types"] = TYPES
    caplog.clear()
    with caplog.at_level(logging.INFO, "atomstream.io.source"):
        genes = cells.overdispersed(data, 60)
    assert_array_equal(genes.places, np.arange(50))
    assert [record.getMessage() for record in caplog.records] == [f"The data: {NO_GENES}"]


def test_transcripts_are_shares_of_the_genes_alone(data, tmp_path):
    tables = []
    for part in (data[:, :50].copy(), data):
        part.var["feature_types"] = TYPES[: part.n_vars]
        genes = cells.overdispersed(part, 20)
        model = OnlineNMF(3, random_state=0).fit_stream(cells.batches(part, genes))
        cells.annotate(part, model, genes)
        path = cells.write_tables(tmp_path, part)[3]
        tables.append(pd.read_csv(path, sep="\t", index_col=0).to_numpy()[:, :50])
    assert_allclose(tables[1], tables[0], rtol=1e-9)


def test_a_folder_of_several_samples_is_refused_with_their_prefixes(tmp_path):
    for prefix in ("GSM1_", "GSM2_"):
        write_cell_ranger(tmp_path / "both", prefix)
    with pytest.raises(InputError, match=r"prefixes GSM1_, GSM2_; needed is a folder for each"):
        cells.read(tmp_path / "both")
