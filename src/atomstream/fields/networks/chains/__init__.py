"""Chains on networks: copies of a motif, walks, spins, and how much more there is than chance."""
