"""Doors of tensors that take arrays that are read late."""

CASES = dict.fromkeys(("OnlineCPDictionary.fit(X)", "online_parafac(X)"))
