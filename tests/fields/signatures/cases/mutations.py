"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_refit_needs_few_signatures_where_least_squares_take_many": [
        ("price = max(1.0, 2 * value / freedom) * np.log(max(self.total, 2.0)) / 2", "price = 0.0")
    ],
    "test_intervals_hold_the_exposures_of_the_signatures_that_were_chosen": [
        ("ENDS = (2.5, 97.5)", "ENDS = (45.0, 55.0)")
    ],
    "test_of_two_signatures_that_all_samples_share_no_half_is_counted": [
        ("(ranks <= ranks[best]) | (behind <= spread)", "ranks > 0")
    ],
    "test_three_signatures_of_the_published_example_are_found": [
        ('template = OnlineNMF(loss="kl", init="random")', 'template = OnlineNMF(loss="kl")')
    ],
}
