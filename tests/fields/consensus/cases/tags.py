"""The data that models of consensus take, in the tags of scikit-learn."""

CASES = {"consensus": {"two_d_array", "sparse", "positive_only"}}
