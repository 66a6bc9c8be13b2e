"""Numbers that compiled and plain code share; compiled code must change when they do."""

EPS = 2.0**-52  # relative spacing of float64
# Objectives below half this share of |x|^2 count as that: rounding would drown in them.
MIN_OBJECTIVE = 1e-4
# Where violations are measured, a row is unexplained by this share of its l1 penalty at least.
MIN_PENALTY_SHARE = 0.05
