"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "Compared",
        "Ranges",
        "SourcesCoder",
        "SourcesLook",
        "SourcesSettings",
        "SourcesTask",
        "SpeciesTable",
    ],
    "standard",
)
