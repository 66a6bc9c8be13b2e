"""The data that models of series take, in the tags of scikit-learn."""

CASES = {"series": {"two_d_array", "allow_nan"}}
