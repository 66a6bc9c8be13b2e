from .batch import Batch, joined, observed_span
from .clock import Accuracy, Clock
from .objective import Needs, Objective

__all__ = ["Accuracy", "Batch", "Clock", "Needs", "Objective", "joined", "observed_span"]
