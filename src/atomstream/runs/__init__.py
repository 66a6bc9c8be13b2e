"""Runs of the command line, each in a folder of its own: kinds, settings, tasks, the one engine."""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
