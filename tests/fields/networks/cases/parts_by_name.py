"""A parameter of a part of a model of networks, set by its name."""

from atomstream import NetworkDictionary
from atomstream.schedules import Power

CASES = {"networks": (NetworkDictionary(), "schedule__p", 2.0, Power(2.0))}
