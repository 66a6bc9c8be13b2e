"""The one online loop: algorithm, learner, merges of slots, rounds over all rows."""
