"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_a_small_video_is_learned_until_it_settles_and_its_change_is_found": [
        ("SETTLED = 1e-3", "SETTLED = 0.1")
    ],
}
