"""Options of runs of videos: what the help shows for none."""

from atomstream.runs.task import task_named


def test_what_the_help_shows_for_none_is_what_happens():
    video = task_named("video").settings_type
    sizes = [video(("x",), mode=mode).new_model()._batch_size for mode in ("frames", "pixels")]
    assert sizes == [1, 256]
