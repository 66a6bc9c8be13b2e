"""Settings of the whole suite."""

from hypothesis import settings

# Derandomised: the same examples on every machine. No deadline: the first call of a kernel
# compiles.
settings.register_profile("atomstream", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("atomstream")
