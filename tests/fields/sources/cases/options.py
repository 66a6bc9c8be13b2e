"""What options of runs of sources stand for."""

CASES = {
    "sources": {
        "estimators": ["OnlineNMF"],
        "inputs": {"uncertainty": "b"},
        "not_given": ["uncertainty", "total", "limits", "units", "strong", "weak", "anchors"],
        "shown": {"time": "the first column, or one called date or time, if it holds dates"},
    },
}
