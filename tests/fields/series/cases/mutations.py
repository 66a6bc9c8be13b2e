"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_planted_changes_are_found": [
        ("place = int(here.argmax())", "place = int(here.argmax()) + 4")
    ],
    "test_false_alarms_are_as_rare_as_asked_for[0.8]": [
        ("size = _block_length(scores, place, min_size) if block is None else block", "size = 1")
    ],
    "test_a_change_of_one_among_many_series_is_found": [
        ("joint = ranks.min(axis=1)", "joint = ranks[:, 0]")
    ],
    "test_the_defaults_follow_the_epidemic_as_well_as_the_last_day": [
        ("made[-1] + self.correction * left", "made[-1]")
    ],
    "test_in_sample_steps_of_the_epidemic_are_close": [
        ("np.maximum(made[-1] + self", "np.maximum(made[0] + self")
    ],
    "test_the_best_learns_from_all_rows": [
        ("np.maximum(made[-1] + self", "np.maximum(made[-2] + self")
    ],
    "test_a_trend_and_a_season_without_noise_go_on": [
        ("[:, best] * state.trend[best, series]", "[:, best] * 0 * state.trend[best, series]")
    ],
    "test_weights_go_to_the_member_with_the_smaller_past_errors": [
        ("known[:, None], -self.head.sharpness * mean", "known[:, None], 0 * mean")
    ],
    "test_columns_that_are_known_ahead_are_used": [
        (
            "return np.hstack([np.ones((n, 1)), *waves, known[:n, : self.n_known]])",
            "return np.hstack([np.ones((n, 1)), *waves, 0 * known[:n, : self.n_known]])",
        )
    ],
    "test_bands_have_the_width_of_the_errors_of_their_step": [
        ("reach = np.where(silent, reach, bands)", "pass")
    ],
    "test_a_random_walk_is_left_to_persistence_or_as_good": [
        (
            "best = int(errors.mean(axis=1).argmin())\n    return ForecasterChoice(",
            "best = int(errors.mean(axis=1).argmax())\n    return ForecasterChoice(",
        )
    ],
}
