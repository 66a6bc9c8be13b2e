from .explaining import CodingOptions, Whole, explainer_for
from .learner import Learner
from .merging import SerialResult, SlotResult, check_additive, slot_result
from .online import Algorithm, Progress, absorb, check_compatible
from .scaling import SCALES, Scaling, dominance, scaling_of
from .settling import MAX_ROUNDS, leaves_nothing
from .trimmed_start import n_warm_up_rows

__all__ = [
    "MAX_ROUNDS",
    "SCALES",
    "Algorithm",
    "CodingOptions",
    "Learner",
    "Progress",
    "Scaling",
    "SerialResult",
    "SlotResult",
    "Whole",
    "absorb",
    "check_additive",
    "check_compatible",
    "dominance",
    "explainer_for",
    "leaves_nothing",
    "n_warm_up_rows",
    "scaling_of",
    "slot_result",
]
