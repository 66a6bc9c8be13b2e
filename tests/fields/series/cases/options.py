"""What options of runs of series stand for."""

SHOWN = {
    "time": "the first column, or one called date or time, if it holds dates",
    # test_series_options.py
    "memory": "ten windows",
    "init_rows": "four windows",
}
CASES = {
    "series forecast": {
        "estimators": ["SeriesDictionary"],
        "shown": SHOWN | {"season": "no season", "exogenous": "none"},
        "unknown": ["series learn"],
    },
    "series impute": {
        "estimators": ["SeriesDictionary"],
        "different": {
            ("series impute", "ridge"): "a forecast stays close to the last row; a gap has none",
        },
        "shown": SHOWN,
    },
}
