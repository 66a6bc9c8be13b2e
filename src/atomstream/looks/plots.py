"""Plots of models; each ``NAME_data`` returns the arrays that ``NAME`` draws."""

import lazy_loader

# The modules that the table names lie beside this one.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub("atomstream.looks", __file__)
