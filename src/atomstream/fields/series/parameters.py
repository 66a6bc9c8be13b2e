"""The parameters of the model of series: what each is for, and what it may be."""

from atomstream.base.parameters import FLAG, NONE, number, parameter, part, whole
from atomstream.estimators._parameters import AMOUNT, COUNT, table
from atomstream.fields.series.head import HEADS

SERIES = table(
    window=parameter("Times in an atom.", whole(2)),
    memory=parameter("Rows to learn from at a time.", COUNT, NONE),
    forecast_alpha=parameter("Strength of the l1 penalty on codes that forecast.", AMOUNT),
    correction=parameter(
        "Share of the last error that is added to forecasts by atoms.", number(0, 1)
    ),
    center=parameter(
        "Learn each series relative to an offset and in a scale of its own, those of the rows that "
        "the initialisation sees.",
        FLAG,
    ),
    head=parameter(
        "What forecasts: mix, mean, ridge, smoothing, persistence, seasonal, codes, or the atoms "
        "(none).",
        part("plan", HEADS),
        NONE,
    ),
    season=parameter("Rows in a season, for the head.", whole(2), NONE),
    n_init=parameter("Rows that the initialisation sees.", COUNT, NONE),
    n_init_batches=parameter("Batches of random windows to begin with.", whole(0)),
    init_batch_size=parameter("Windows in such a batch.", COUNT),
)
