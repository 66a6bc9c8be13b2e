"""The data that models of video take, in the tags of scikit-learn."""

CASES = {"frames": {"three_d_array", "string", "positive_only"}}
