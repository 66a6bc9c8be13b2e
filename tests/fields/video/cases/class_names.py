"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "Video",
        "VideoCoder",
        "VideoCoding",
        "VideoDictionary",
        "VideoLook",
        "VideoSettings",
        "VideoTask",
    ],
    "standard",
)
