"""What options of runs of tensors stand for."""

CASES = {
    "tensor": {
        "estimators": ["OnlineCPDictionary"],
        "shown": {
            "columns": "all, in their order",
            "epochs": "until 50,000 samples are learned, 25 at most",
        },
    },
}
