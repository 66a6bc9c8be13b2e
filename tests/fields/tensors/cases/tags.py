"""The data that models of tensors take, in the tags of scikit-learn."""

CASES = {"tensors": {"two_d_array", "three_d_array", "sparse"}}
