"""The data that models of networks take, in the tags of scikit-learn."""

CASES = {"networks": {"sparse", "string"}}
