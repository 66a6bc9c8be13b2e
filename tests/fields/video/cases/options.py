"""What options of runs of videos stand for."""

CASES = {
    "video": {
        "estimators": ["VideoDictionary"],
        "not_given": ["snapshots"],
        "shown": {
            "batch_size": "1 frame, 256 pixels",  # test_video_options.py
            "epochs": "10, more of a small video, until its atoms settle",
        },
    },
}
