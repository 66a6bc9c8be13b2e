"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "LabelLoss",
        "LabelRows",
        "LabelTerms",
        "LabelledAggregates",
        "LabelledDelta",
        "LabelledDescent",
        "LabelledSums",
        "LabelsLook",
        "Logistic",
        "Poisson",
        "PredictingFromCodes",
        "SquaredError",
        "SupervisedDictionary",
    ],
    "standard",
)
