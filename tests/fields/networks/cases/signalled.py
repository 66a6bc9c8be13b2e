"""A run of networks that a signal stops."""

from fields.networks.cases.stopped import prepare

COMMAND = "network learn edges.txt --motif path:4 --atoms 4 --batch-size 500"
CASES = {"network": (COMMAND, "batches", "SIGINT", prepare, [])}
