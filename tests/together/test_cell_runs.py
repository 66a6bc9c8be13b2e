"""Cells in an .h5ad file on the command line: genes chosen, programs learned, cells coded."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from commands import refused, run
from numpy.testing import assert_allclose

from atomstream import cells
from atomstream.base import as_known
from atomstream.runs.record import open_record

anndata = pytest.importorskip("anndata", reason="needs anndata, of the extra cells")

rng = np.random.default_rng(0)
COUNTS = rng.poisson(4 * rng.random((700, 3)) ** 3 @ rng.random((3, 40)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cells")
    data = anndata.AnnData(sp.csr_matrix(COUNTS.astype(np.float32)))
    data.obs_names = [f"cell{i}" for i in range(700)]
    data.var_names = [f"gene{i}" for i in range(40)]
    data.write_h5ad(folder / "x.h5ad")
    settings = ("--atoms", "2-3", "--replicates", 3, "--epochs", 2)
    run("consensus", folder / "x.h5ad", *settings, "--out", folder / "run")
    return folder


def test_a_run_learns_from_the_genes_that_vary_most_and_codes_cells_by_name(folder):
    record, data = open_record(folder / "run"), cells.read(folder / "x.h5ad")
    genes = cells.overdispersed(data)
    assert record.names == list(genes.names)
    run("encode", folder / "run", folder / "x.h5ad", "--out", folder / "codes.csv")
    table = pd.read_csv(folder / "codes.csv", index_col="cell")
    assert list(table.index) == [f"cell{i}" for i in range(700)]
    rows = sp.vstack(list(cells.batches(data, genes)))
    codes = table[[name for name in table.columns if name.startswith("atom")]]
    assert_allclose(
        codes, record.model.transform(as_known(record.model, rows)), rtol=1e-5, atol=1e-7
    )


def test_genes_are_chosen_by_name_and_found_in_other_files(folder):
    chosen = ("gene7", "gene3", "gene21", "gene30")
    given = [word for name in chosen for word in ("--columns", name)]
    run("learn", folder / "x.h5ad", "--atoms", 2, *given, "--out", folder / "four")
    assert set(open_record(folder / "four").names) == set(chosen)
    wider = anndata.AnnData(sp.csr_matrix(np.c_[COUNTS[:50, 7:8], COUNTS[:50]].astype("f4")))
    wider.var_names = ["other", *(f"gene{i}" for i in range(40))]
    wider.write_h5ad(folder / "wider.h5ad")
    run("encode", folder / "four", folder / "wider.h5ad", "--out", folder / "new.csv")
    assert len(pd.read_csv(folder / "new.csv")) == 50


def test_codes_of_a_cell_are_the_same_whatever_file_it_lies_in(folder):
    """Genes are divided by the deviations that the run has learned with."""
    some = anndata.AnnData(sp.csr_matrix(COUNTS[:50].astype(np.float32)))
    some.var_names = [f"gene{i}" for i in range(40)]
    some.write_h5ad(folder / "some.h5ad")
    found = []
    for name in ("x", "some"):
        run("encode", folder / "run", folder / f"{name}.h5ad", "--out", folder / f"{name}.csv")
        table = pd.read_csv(folder / f"{name}.csv")
        found.append(table[[name for name in table.columns if name.startswith("atom")]])
    assert_allclose(found[1], found[0][:50], rtol=1e-5, atol=1e-7)


def test_several_files_are_divided_by_the_deviations_of_the_first(folder):
    double = anndata.AnnData(sp.csr_matrix(2 * COUNTS.astype(np.float32)))
    double.var_names = [f"gene{i}" for i in range(40)]
    double.write_h5ad(folder / "double.h5ad")
    given = [word for i in range(40) for word in ("--columns", f"gene{i}")]
    files = (folder / "x.h5ad", folder / "double.h5ad")
    run("learn", *files, "--atoms", 2, *given, "--epochs", 1, "--out", folder / "two")
    one, two = open_record(folder / "two").task(open_record(folder / "two").settings).sources
    rows = [next(iter(source.blocks(0, 0))).X.toarray() for source in (one, two)]
    assert_allclose(rows[1], 2 * rows[0], rtol=1e-6)


def test_genes_of_further_files_are_those_of_the_first_by_name(folder, capsys):
    turned = anndata.AnnData(sp.csr_matrix(COUNTS[:, ::-1].astype(np.float32)))
    turned.var_names = [f"gene{i}" for i in range(40)][::-1]
    turned.write_h5ad(folder / "turned.h5ad")
    settings = ("--atoms", 2, "--epochs", 1)
    run("learn", folder / "x.h5ad", folder / "x.h5ad", *settings, "--out", folder / "once")
    run("learn", folder / "x.h5ad", folder / "turned.h5ad", *settings, "--out", folder / "mixed")
    one, other = (open_record(folder / name).model for name in ("once", "mixed"))
    assert_allclose(other.components_, one.components_, rtol=1e-5)
    for name in ("x", "turned"):
        run("encode", folder / "once", folder / f"{name}.h5ad", "--out", folder / f"by-{name}.csv")
    found = [pd.read_csv(folder / f"by-{name}.csv").to_numpy()[:, 1:] for name in ("x", "turned")]
    assert_allclose(found[1].astype(float), found[0].astype(float), rtol=1e-5, atol=1e-7)
    few = anndata.AnnData(sp.csr_matrix(COUNTS[:, :30].astype(np.float32)))
    few.var_names = [f"gene{i}" for i in range(30)]
    few.write_h5ad(folder / "few.h5ad")
    words = ("encode", folder / "once", folder / "few.h5ad", "--out", folder / "none.csv")
    assert "has different genes than" in (told := refused(capsys, *words))
    assert "missing are 'gene30', 'gene31'" in told


def test_rows_are_the_same_from_any_cell_on(folder):
    from atomstream.io.inputs import open_inputs

    (source,) = open_inputs([str(folder / "x.h5ad")])
    whole = sp.vstack([block.X for block in source.blocks(0, 0)]).toarray()
    for start in (1, 511, 512, 699):
        blocks = list(source.blocks(start, 0))
        assert_allclose(sp.vstack([block.X for block in blocks]).toarray(), whole[start:])
        assert blocks[0].ids[0] == start
        assert blocks[0].labels[0][0] == f"cell{start}"


def test_a_key_chooses_a_layer_in_every_verb_and_other_features_are_told(folder, capsys):
    data = anndata.AnnData(sp.csr_matrix(np.log1p(COUNTS).astype(np.float32)))
    data.var_names = [f"gene{i}" for i in range(40)]
    data.layers["counts"] = sp.csr_matrix(COUNTS.astype(np.float32))
    data.var["feature_types"] = ["Gene Expression"] * 35 + ["Antibody Capture"] * 5
    data.write_h5ad(folder / "logged.h5ad")
    counts = anndata.AnnData(data.layers["counts"][:, :35])
    counts.var_names = data.var_names[:35]
    counts.write_h5ad(folder / "counts.h5ad")
    key = ("--key", "layers/counts")
    for verb, more in (
        ("learn", ("--atoms", 2)),
        ("consensus", ("--atoms", "2", "--replicates", 3)),
    ):
        for name, given in (("logged", key), ("counts", ())):
            capsys.readouterr()
            words = (folder / f"{name}.h5ad", *more, "--epochs", 2, *given)
            run(verb, *words, "--out", folder / f"{verb}-{name}")
            told = "5 features that are no genes left out (Antibody Capture)"
            assert (told in capsys.readouterr().err) == (name == "logged")
        models = [open_record(folder / f"{verb}-{name}").model for name in ("logged", "counts")]
        assert_allclose(models[0].components_, models[1].components_, rtol=1e-6)
        run("encode", folder / f"{verb}-logged", folder / "logged.h5ad", "--out", folder / "c.csv")
        run("encode", folder / f"{verb}-counts", folder / "counts.h5ad", "--out", folder / "d.csv")
        codes = [pd.read_csv(folder / f"{name}.csv", index_col="cell") for name in "cd"]
        assert_allclose(codes[0], codes[1], rtol=1e-4, atol=1e-6)
        wrong = (folder / "logged.h5ad", *more, "--key", "raw", "--out", folder / "wrong")
        assert "no array called 'raw'; it has X, layers/counts." in refused(capsys, verb, *wrong)
    run("learn", folder / "logged.h5ad", "--atoms", 2, "--epochs", 1, "--out", folder / "warned")
    assert "--key layers/counts" in capsys.readouterr().err
