"""Arguments of runs of texts about a file that is missing, which load nothing heavy."""

CASES = {"text": lambda missing, table: ["text", "topics", missing]}
