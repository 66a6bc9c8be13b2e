"""The one online loop, and the values that flow through it: batch, clock, state, objective."""
