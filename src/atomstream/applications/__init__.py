"""Data in, model called, data out: no mathematics of learning here."""
