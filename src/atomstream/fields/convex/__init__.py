"""Online convex factorization: each atom is a mean of a few samples of the stream.

Agarwal, Peng and Milenkovic, "Online convex matrix factorization with representative regions". Read
`hulls` (atoms in the hulls of their representatives), `update` (Algorithm 1, a row at a time: code
it, offer it to an atom, improve the weights), compiled in `kernel` with `kernel_swaps` (which
representative a row replaces) and `kernel_weights` (the quadratic problem of the weights); then
`representatives` (which rows can become some, and of what share of which rows an atom is made),
`model`, the estimator with its `parameters`, `theorem` (what Theorem 1 asks), `look`, and `rows`
(``atomstream learn --model convex``).
"""
