"""What options of runs of images stand for."""

CASES = {"image": {"estimators": ["ImageDictionary"], "unknown": ["image forget"]}}
