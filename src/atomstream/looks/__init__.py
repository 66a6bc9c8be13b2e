"""How models are looked at: one file a model, with its table, pictures, words and report."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
