"""Models as files: bytes with a digest (`archive`), what they may hold, whether it makes sense, how it is told."""

from atomstream.persistence.registry import PARTS
from atomstream.persistence.telling import load, read_model, save, write_model

__all__ = ["PARTS", "load", "read_model", "save", "write_model"]
