"""Markov chains as streams: each a frozen value with ``init``, ``step`` and ``run``."""

import lazy_loader

from atomstream.base.declared import with_names

# Chains on networks are those of their field.
__getattr__, __dir__, __all__ = with_names(__name__, lazy_loader.attach_stub(__name__, __file__))
