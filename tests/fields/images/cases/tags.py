"""The data that models of images take, in the tags of scikit-learn."""

CASES = {"images": {"three_d_array", "string"}, "colours": {"dict"}}
