"""Updates of the dictionary, made once the memory has taken in a batch."""

import lazy_loader

from atomstream.base.declared import with_names

# Each is loaded where it is first used: a matrix model knows nothing of loadings.
__getattr__, __dir__, __all__ = with_names(__name__, lazy_loader.attach_stub(__name__, __file__))
