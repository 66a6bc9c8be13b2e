"""Streams: plain iterables of batches, with samples in rows.

A stream is a generator of arrays and knows nothing of learning. It may be endless; limit it with
`itertools.islice`. Any other iterable of arrays is a stream too.
"""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
