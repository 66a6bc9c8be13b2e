"""Figures of models and chains: the public name of `atomstream.watch.diagnostics`."""

from atomstream.watch.diagnostics import Dependence, SampleReport, mcmc_diagnostics, stationarity

__all__ = ["Dependence", "SampleReport", "mcmc_diagnostics", "stationarity"]
