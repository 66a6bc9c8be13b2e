"""Compiled twins of plain functions: same arguments, same values, tested to agree.

Numba is imported when the first kernel is used, not before. Of the fast-math flags only
reassociation and contraction are allowed: the others would let the compiler forget NaN and
infinities. No kernel reduces in parallel, so results do not depend on the number of threads.
"""
