"""Page's cumulative sum, and means that forget: what tells a change from noise."""

SLACK = 0.25  # of a standard deviation: what the sum loses with each value


def summed(total: float, value: float) -> float:
    """Return Page's cumulative sum with the next value, in standard deviations."""
    return max(0.0, total + value - SLACK)


def moved(mean: float, variance: float, value: float, weight: float) -> tuple[float, float]:
    """Return the mean and the variance with the next value, which counts by its weight."""
    off = value - mean
    # The variance is about the new mean, exactly, whatever the weights have been.
    return mean + weight * off, (1 - weight) * (variance + weight * off * off)
