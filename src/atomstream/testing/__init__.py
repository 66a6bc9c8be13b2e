"""Checks of your own parts, for your tests: each fails with one sentence that says what is wrong.

The tests of the package run the same checks over every part that it has.
"""

from atomstream.testing.parts import check_loss, check_penalty, check_sampler, check_updater

__all__ = ["check_loss", "check_penalty", "check_sampler", "check_updater"]
