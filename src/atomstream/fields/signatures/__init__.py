"""Mutational signatures: counts of mutations by channel, explained by a few processes.

De novo extraction is a consensus of bootstraps that go to their end. Read `tables` (counts and
catalogues, as the field writes them), `extraction` (the signatures), `matches` (which known ones
they are, and which they are made of), `exposures` and `few_atoms` (how many mutations of a sample
each explains), then `classes` and `look` (profiles in the colours of the field) and `run`
(``atomstream signatures``).
"""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
