"""What follows a fit: callbacks, its history, drift and changes, lives of atoms, loggers."""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
