"""A table as text, with any delimiter and decimal sign."""

import numpy as np

X = np.random.default_rng(0).random((40, 3)).round(3)
X[3, 1] = np.nan
X[5] = [1e-7, -2.5, 3]


def text_of(sign, decimal, header=True, dates=False, quoted=False):
    """Return the table as text, with another delimiter and decimal sign."""
    lines = [sign.join([*["day"] * dates, "a", "b", "c"])] if header else []
    for number, row in enumerate(X):
        day = [str(np.datetime64("2020-01-01") + number)] if dates else []
        fields = ["" if np.isnan(value) else repr(float(value)) for value in row]
        fields = [field.replace(".", decimal) for field in fields]
        fields = [f'"{field}"' for field in fields] if quoted else fields
        lines.append(sign.join([*day, *fields]))
    return "\n".join(lines) + "\n"
