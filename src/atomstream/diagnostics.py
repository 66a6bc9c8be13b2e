"""Figures of models and chains: the public name of `atomstream.watch.diagnostics`."""

from atomstream.watch.diagnostics import Dependence, SampleReport, mcmc_diagnostics, stationarity
from atomstream.watch.diagnostics import lumpability as lumpability
from atomstream.watch.diagnostics import lumpability_of as lumpability_of
from atomstream.watch.diagnostics import merging_conductance as merging_conductance
from atomstream.watch.diagnostics import mixing_time as mixing_time
from atomstream.watch.diagnostics import relative_move as relative_move
from atomstream.watch.diagnostics import stationary_law as stationary_law

__all__ = ["Dependence", "SampleReport", "mcmc_diagnostics", "stationarity"]
