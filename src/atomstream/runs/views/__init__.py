"""One file for each kind of model: how verbs and reports look at it."""
