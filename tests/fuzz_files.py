"""What files that `fuzz.py` damages are made of, and the words of an error about one."""

import io
import re

import numpy as np
import scipy.sparse as sp

X = np.random.default_rng(0).random((7, 3)).round(3)
ROWS = np.random.default_rng(0).random((30, 4))
SPARSE = sp.csr_array(X * (X > 0.5))
MEMBER = b"\0a member\0"


def saved(write, *arguments):
    file = io.BytesIO()
    write(file, *arguments)
    return file.getvalue()


def text(rows=X, header="a,b,c\n"):
    return (header + "\n".join(",".join(map(str, row)) for row in rows.tolist())).encode()


def words(said):
    """What an error says, without its numbers and quotations."""
    return "Refused: " + re.sub(r"'.*?'|[\d.+-]+|x\.\w+", "", said)[:80]
