"""What is made of the history of a fit: lives of atoms, a live figure, loggers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules={"live", "lives", "loggers", "snapshots"}
)
