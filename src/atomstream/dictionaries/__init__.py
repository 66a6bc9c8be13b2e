"""Dictionaries: free rows, loading matrices, or hulls of representative samples."""

import lazy_loader

# Each is loaded where it is first used: a matrix model knows nothing of loadings and hulls.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
