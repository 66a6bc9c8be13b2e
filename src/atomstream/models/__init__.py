"""Scikit-learn estimators: each binds the parts of one algorithm and owns its state."""
