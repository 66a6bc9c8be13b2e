"""The data that models of walks take, in the tags of scikit-learn."""

CASES = {"walks": {"one_d_array", "categorical", "string"}}
