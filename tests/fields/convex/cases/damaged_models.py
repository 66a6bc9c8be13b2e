"""A model whose file `fuzz.py` damages."""

import scipy.sparse as sp
from fuzz_files import ROWS

from atomstream import OnlineConvexMF

CASES = {
    "OnlineConvexMF": (
        lambda: OnlineConvexMF(2, n_representatives=8, random_state=0).fit(sp.csr_array(ROWS)),
        None,
    ),
}
