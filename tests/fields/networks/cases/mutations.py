"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_fitted_scores_are_above_every_heuristic[False-hide]": [
        ("places / (2 * max(len(known), 1)) - 0.5", "0 * places")
    ],
    "test_intervals_hold_the_limit_and_shrinking_brings_scores_closer_to_it": [
        ("strength = scale * mean / max(spread, scale * mean / total)", "strength = 0.0")
    ],
    "test_planted_edges_score_low_and_hidden_ones_high": [
        ("free = motif.free_entries(directed", "free = ~motif.free_entries(directed")
    ],
}
