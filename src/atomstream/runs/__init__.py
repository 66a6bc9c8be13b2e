"""Runs: learning that lasts, in a folder, from files, to be stopped and taken up again."""
