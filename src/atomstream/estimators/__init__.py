"""One public estimator per file, and the shell that they share."""
