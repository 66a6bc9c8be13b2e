"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    ["ConvexLook", "ConvexRows", "ConvexTheorem", "HullUpdate", "OnlineConvexMF"],
    "standard",
)
