"""Learn interpretable dictionaries from data that never stops.

The library is one sentence, ``stream -> coder -> memory -> update of the dictionary``, written once in
`atomstream.learner`; models bind the parts, applications feed them. Importing the package is light: each name
is loaded from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from atomstream import (
        callbacks,
        changes,
        losses,
        plots,
        readers,
        report,
        samplers,
        schedules,
        streams,
        tolerances,
    )
    from atomstream.applications import images, links, series, text, trips, video
    from atomstream.applications.pictures import ImageDictionary
    from atomstream.applications.restoring import ColorRestorer
    from atomstream.applications.topics import TopicModel
    from atomstream.applications.video import VideoDictionary
    from atomstream.exceptions import (
        CorruptModelError,
        IncompatiblePartsError,
        InputError,
        ModelFileError,
        NewerFormatError,
        NotAModelError,
        NotConvergedWarning,
    )
    from atomstream.models.convex import OnlineConvexMF
    from atomstream.models.cp import OnlineCPDictionary
    from atomstream.models.encoding import sparse_encode
    from atomstream.models.matching import align
    from atomstream.models.matrix import OnlineDictionaryLearning, OnlineNMF
    from atomstream.models.network import NetworkDictionary
    from atomstream.models.parafac import online_parafac
    from atomstream.models.rank import choose_rank
    from atomstream.models.series import SeriesDictionary
    from atomstream.models.walk import RandomWalkFactorization
    from atomstream.persistence import load, save

_HOMES = {
    "ColorRestorer": "atomstream.applications.restoring",
    "ImageDictionary": "atomstream.applications.pictures",
    "CorruptModelError": "atomstream.exceptions",
    "IncompatiblePartsError": "atomstream.exceptions",
    "InputError": "atomstream.exceptions",
    "ModelFileError": "atomstream.exceptions",
    "NewerFormatError": "atomstream.exceptions",
    "NotAModelError": "atomstream.exceptions",
    "NotConvergedWarning": "atomstream.exceptions",
    "NetworkDictionary": "atomstream.models.network",
    "OnlineCPDictionary": "atomstream.models.cp",
    "OnlineConvexMF": "atomstream.models.convex",
    "OnlineDictionaryLearning": "atomstream.models.matrix",
    "OnlineNMF": "atomstream.models.matrix",
    "RandomWalkFactorization": "atomstream.models.walk",
    "TopicModel": "atomstream.applications.topics",
    "VideoDictionary": "atomstream.applications.video",
    "SeriesDictionary": "atomstream.models.series",
    "align": "atomstream.models.matching",
    "choose_rank": "atomstream.models.rank",
    "load": "atomstream.persistence",
    "online_parafac": "atomstream.models.parafac",
    "save": "atomstream.persistence",
    "sparse_encode": "atomstream.models.encoding",
}
_MODULES = {
    "callbacks": "atomstream.callbacks",
    "changes": "atomstream.changes",
    "images": "atomstream.applications.images",
    "links": "atomstream.applications.links",
    "losses": "atomstream.losses",
    "plots": "atomstream.plots",
    "readers": "atomstream.readers",
    "report": "atomstream.report",
    "samplers": "atomstream.samplers",
    "schedules": "atomstream.schedules",
    "streams": "atomstream.streams",
    "series": "atomstream.applications.series",
    "text": "atomstream.applications.text",
    "tolerances": "atomstream.tolerances",
    "trips": "atomstream.applications.trips",
    "video": "atomstream.applications.video",
}

__all__ = [
    "ColorRestorer",
    "CorruptModelError",
    "ImageDictionary",
    "IncompatiblePartsError",
    "InputError",
    "ModelFileError",
    "NetworkDictionary",
    "NewerFormatError",
    "NotAModelError",
    "NotConvergedWarning",
    "OnlineCPDictionary",
    "OnlineConvexMF",
    "OnlineDictionaryLearning",
    "OnlineNMF",
    "RandomWalkFactorization",
    "SeriesDictionary",
    "TopicModel",
    "VideoDictionary",
    "align",
    "callbacks",
    "changes",
    "choose_rank",
    "images",
    "links",
    "load",
    "losses",
    "online_parafac",
    "plots",
    "readers",
    "report",
    "samplers",
    "save",
    "schedules",
    "series",
    "sparse_encode",
    "streams",
    "text",
    "tolerances",
    "trips",
    "video",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'atomstream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
