"""What options of runs of texts stand for."""

from atomstream.fields.text.topic_shares import MIN_SPANS

CASES = {
    "text": {
        "estimators": ["TopicModel"],
        "not_given": ["column", "date"],
        "shown": {
            "freq": f"the longest of which there are {MIN_SPANS} or more",
            "epochs": "10, and then rounds until topics settle",
        },
        "unknown": ["text learn"],
        "alike": [("text topic", "topics")],
    },
}
