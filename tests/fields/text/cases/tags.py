"""The data that models of text take, in the tags of scikit-learn."""

CASES = {"topics": {"one_d_array", "string"}}
