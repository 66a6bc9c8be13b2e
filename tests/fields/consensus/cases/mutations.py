"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_of_counts_the_largest_number_that_comes_back_is_taken_and_both_rules_are_told": [
        ("return int(ranks[back][-1])", "return int(ranks[back][0])")
    ],
    "test_bootstraps_that_go_to_the_end_fit_their_rows_as_single_models_do": [
        ("to_the_end=self.to_the_end", "to_the_end=False")
    ],
    "test_intervals_hold_zeros_and_others_under_noise[one seed-cut at zero]": [
        ("np.minimum(held.mean(axis=0), CUT", "0.0 * np.minimum(held.mean(axis=0), CUT")
    ],
    "test_an_atom_that_most_replicates_have_is_not_lost_to_one_that_varies": [
        ("init=first, n_init=1", "n_init=10, random_state=0")
    ],
    "test_the_planted_atoms_return_and_their_number_is_chosen": [
        ("near[ours] = table[theirs, ours]", "near[theirs] = table[theirs, theirs]")
    ],
    "test_signed_atoms_are_matched_whatever_their_sign": [
        (
            "labels[kept] = _grouped(rows[kept], rows[first])",
            "labels[kept] = np.arange(len(kept)) % n_components",
        )
    ],
    "test_the_rank_of_data_is_found_and_its_atoms_are_stable": [
        ("return int(ranks[steady][0])", "return int(ranks[best])")
    ],
    "test_the_number_of_rank_one_atoms_of_tensors_is_found": [
        ("LITTLE = 0.05", "LITTLE = 1.0"),
        (
            "labels[kept] = _grouped(rows[kept], rows[first])",
            "labels[kept] = np.arange(len(kept)) % n_components",
        ),
    ],
}
