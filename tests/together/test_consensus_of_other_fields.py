"""Consensus of cells, and models of other fields that it refuses: neither field needs the other."""

import numpy as np
import pytest
import scipy.sparse as sp
from shared import DATA, needs_data
from sklearn.decomposition import NMF

from atomstream import (
    ConsensusNMF,
    ImageDictionary,
    OnlineConvexMF,
    SeriesDictionary,
    align,
    cells,
    choose_rank,
)
from atomstream.fields.consensus.agreement import Consensus


def test_models_of_other_fields_are_refused():
    X = np.random.default_rng(0).random((20, 4))
    with pytest.raises(ValueError, match="model must be an OnlineNMF, an Onl"):
        ConsensusNMF([2], n_replicates=3, model=OnlineConvexMF()).fit(X)
    with pytest.raises(ValueError, match="patches of one image overlap"):
        choose_rank(X, [2], model=ImageDictionary())
    with pytest.raises(ValueError, match="windows of one series overlap"):
        choose_rank(X, [2], model=SeriesDictionary())


@needs_data
def test_a_program_that_fewer_starts_end_at_is_kept_where_these_fit_better(room):
    """Two in five starts on the small set of blood cells have one of its programs, three another.

    Programs are those of fifty runs of scikit-learn's NMF, half of which have that one.
    """
    anndata = pytest.importorskip("anndata", reason="needs anndata, of the extra cells")
    stored = np.load(DATA / "blood_cells" / "pbmc68k_reduced_counts.npz")
    parts = (stored["data"], stored["indices"], stored["indptr"])
    data = anndata.AnnData(sp.csr_matrix(parts, shape=stored["shape"]).astype(np.float32))
    X = sp.vstack(list(cells.batches(data, cells.overdispersed(data, 300)))).toarray()
    runs = [NMF(8, init="random", random_state=seed, max_iter=1000).fit(X) for seed in range(50)]
    theirs = Consensus.of(np.array([run.components_ for run in runs]), np.ones((50, 8)))
    model = ConsensusNMF(8, n_replicates=50, random_state=0).fit(X)
    room.share(align(theirs.atoms, model).similarity.min(), at_least=0.95)
