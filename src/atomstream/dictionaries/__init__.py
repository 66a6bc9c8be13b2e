"""Dictionaries: free rows, and those of fields, such as hulls of samples."""

import lazy_loader

from atomstream.base.declared import with_names

# Each is loaded where it is first used: a matrix model knows nothing of loadings and hulls.
__getattr__, __dir__, __all__ = with_names(__name__, lazy_loader.attach_stub(__name__, __file__))
