"""A model of series that keeps the contract of scikit-learn, and where it does not."""

from atomstream import SeriesDictionary

HORIZON = "`predict` takes a number of rows to forecast, not samples"
SERIES = "rows are times: a table with too few, or of another width, is refused in other words"
OF_HORIZON = [
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
]
OF_SERIES = [
    "check_estimators_empty_data_messages",
    "check_fit2d_1sample",
    "check_n_features_in_after_fitting",
]
FAILING = dict.fromkeys(OF_HORIZON, HORIZON) | dict.fromkeys(OF_SERIES, SERIES)
MODEL = SeriesDictionary(2, 2, n_init=4, n_init_batches=2, random_state=0)
CASES = {"series": ([MODEL], FAILING)}
