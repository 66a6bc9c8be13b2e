"""Arguments of runs of networks about a file that is missing, which load nothing heavy."""

CASES = {"network": lambda missing, table: ["network", "learn", missing]}
