"""How models are looked at: one file a model, with its table, pictures, words and report."""

import lazy_loader

from atomstream.base.declared import with_names

__getattr__, __dir__, __all__ = with_names(__name__, lazy_loader.attach_stub(__name__, __file__))
