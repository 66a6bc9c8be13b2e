"""The data that models of convex take, in the tags of scikit-learn."""

CASES = {"convex": {"two_d_array", "sparse"}}
