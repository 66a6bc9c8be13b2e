"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "ChannelTable",
        "Decomposition",
        "Exposures",
        "Match",
        "SignatureCoder",
        "SignaturesLook",
        "SignaturesSettings",
        "SignaturesTask",
    ],
    "standard",
)
