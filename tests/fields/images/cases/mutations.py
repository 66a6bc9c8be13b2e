"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_the_noise_is_told_and_taken_off[0.1]": [("NOISE_GAIN = 1.1", "NOISE_GAIN = 0.3")],
    "test_the_noise_is_told_and_taken_off[0.02]": [
        ("NORMAL_QUARTILE = 0.6744897501960817", "NORMAL_QUARTILE = 0.75")
    ],
    "test_half_of_the_pixels_are_filled_in_and_others_stay": [
        ("HOLES_ERROR = 0.02", "HOLES_ERROR = 0.2")
    ],
}
