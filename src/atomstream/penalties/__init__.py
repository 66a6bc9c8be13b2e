"""Penalties on codes and atoms; a constraint is one that is 0 inside its set, infinite outside."""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
