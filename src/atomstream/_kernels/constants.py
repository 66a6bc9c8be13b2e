"""Numbers that compiled and plain code share; kept here because compiled code must change when they do."""

FLOOR = 1e-4  # objectives below half this share of |x|^2 count as that: rounding would drown in them
