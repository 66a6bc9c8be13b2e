"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_small_clusters_are_covered_wherever_k_means_covers_them[10-3.0]": [
        ("MIN_RUNS, MAX_RUNS, MAX_WORK = 4, 50", "MIN_RUNS, MAX_RUNS, MAX_WORK = 1, 1")
    ],
    "test_hidden_entries_are_predicted_nearly_as_with_all_known": [
        (
            "part.complete(state.dictionary.decode(codes.values))",
            "part.complete(0 * state.dictionary.decode(codes.values))",
        )
    ],
}
