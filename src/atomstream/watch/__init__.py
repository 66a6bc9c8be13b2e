"""What follows a fit: callbacks, its history, drift and changes, lives of atoms, loggers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules={"callbacks", "changes", "diagnostics", "drift", "history", "lives", "loggers"},
)
