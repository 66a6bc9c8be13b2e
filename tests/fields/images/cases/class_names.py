"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "ColorLook",
        "ColorRestorer",
        "ImageCoder",
        "ImageDictionary",
        "ImageLook",
        "ImageSettings",
        "ImageTask",
        "PatchClassifier",
        "PatchLearning",
        "Restored",
    ],
    "standard",
)
