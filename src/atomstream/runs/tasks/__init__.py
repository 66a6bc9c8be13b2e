"""One file for each kind of run: its settings, and how it learns."""
