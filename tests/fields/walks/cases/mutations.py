"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_partitions_are_exact_and_the_frequencies_those_of_all_visits": [
        ("power=0.6, recency=2.0", "power=0.6, recency=-1.0")
    ],
    "test_scaled_partitions_of_a_lumpable_chain_are_exact": [
        ("Steps(gain=0.05, longest=0.5", "Steps(gain=0.0005, longest=0.005")
    ],
    "test_the_scaled_factors_are_the_singular_vectors_of_the_scaled_law": [
        ("power=0.6, recency=2.0", "power=0.0, recency=2.0"),
        ("** (2 * self.power - 1)", "** (1 - self.power)"),
    ],
    "test_a_stream_ends_when_nothing_changes_any_more": [(".change_ <= self.tol", ".change_ < 0")],
    "test_the_two_halves_of_a_city_are_found": [
        ("Steps(gain=0.05, longest=0.5", "Steps(gain=0.0005, longest=0.005")
    ],
    "test_the_scaled_law_is_factorized_on_demand": [
        ("rare, n_states = np.sqrt(tails * heads)", "rare, n_states = tails * heads")
    ],
}
