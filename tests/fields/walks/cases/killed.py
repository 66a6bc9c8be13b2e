"""A run of walks that is killed before its results."""

from atomstream.fields.walks.run import WalkTask

COMMAND = "walk partition walk.txt --states --rank 2 --clusters 2"
CASES = {"walk": (WalkTask, COMMAND, "partition.csv")}
