"""Arguments of runs of signatures about a file that is missing, which load nothing heavy."""

CASES = {"signatures": lambda missing, table: ["signatures", missing]}
