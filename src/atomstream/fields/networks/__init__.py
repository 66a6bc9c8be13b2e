"""Networks: patterns around a motif, along a Markov chain of its copies."""
