"""Networks: patterns around a motif, learned along a Markov chain of its copies.

Lyu, Needell and Balzano, "Online matrix factorization for Markovian data and applications to
network dictionary learning", section 6. Read `network`, `motifs` and `chains` (of copies: sections
6.1 and 6.2), `model` (`parameters`; `several` networks at once), `rebuilding` (`reconstruction` and
its `verdicts`; means over copies by `edge_means`, `edge_sets`, `kernel_pairs`), `links`
(`link_scores`, `kernel_paths`, `link_fit`, `proposals`) and `symmetric` factors; `edges` and
`edge_tables` read files, `look` and `families` draw, `run` and `verbs` are the commands.
"""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
