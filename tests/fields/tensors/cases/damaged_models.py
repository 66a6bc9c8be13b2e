"""A model whose file `fuzz.py` damages."""

from fuzz_files import ROWS

from atomstream import OnlineCPDictionary

CASES = {
    "OnlineCPDictionary": (
        lambda: OnlineCPDictionary(2, random_state=0).fit(ROWS.reshape(-1, 2, 2)),
        None,
    ),
}
