"""Consensus: how many atoms there are, and which of them come back.

Many replicates learn from one reading of the data, each without some rows, and are judged by
entries that were hidden from it. Read `ensemble` (replicates side by side, their errors on
`hidden_entries`), `agreement` and `clusters` (which atoms return), `rank_choice` (the numbers
compared, and the one chosen), `structure` (whether there is anything to find), `rank_reason` (both
in words), `intervals`, `learning` and `model` (the estimator with its `parameters`), `rank`
(``choose_rank``, also of networks and tensors), `look` and `run` (``atomstream consensus``).
"""
