"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "CPTensor",
        "CPTheorem",
        "LoadingSweep",
        "OnlineCPDictionary",
        "Slices",
        "Tensor",
        "TensorCoder",
        "TensorLook",
        "TensorSettings",
        "TensorTask",
    ],
    "standard",
)
