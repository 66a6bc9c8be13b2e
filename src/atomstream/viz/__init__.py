"""Plots of models, and HTML reports of runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules={"plots", "report"})
