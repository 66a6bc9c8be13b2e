"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "DocumentFile",
        "DocumentOptions",
        "Documents",
        "Entry",
        "TextCoder",
        "TextLook",
        "TextSettings",
        "TextTask",
        "TopicMerging",
        "TopicModel",
        "TopicsOverTime",
        "Vocabulary",
    ],
    "standard",
)
