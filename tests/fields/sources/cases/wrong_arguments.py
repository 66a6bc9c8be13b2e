"""Arguments of runs of sources about a file that is missing, which load nothing heavy."""

CASES = {"sources": lambda missing, table: ["sources", missing, "--uncertainty", table]}
