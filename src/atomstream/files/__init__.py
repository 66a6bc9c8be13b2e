"""Model files: one archive of arrays and JSON, and the classes that it may name."""
