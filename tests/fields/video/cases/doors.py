"""Calls of what takes videos."""

from given import CODES, RNG, VIDEO, WHOLE_VIDEO, holes

from atomstream import VideoDictionary
from atomstream.looks import plots


def of_videos(**settings):
    return VideoDictionary(2, random_state=0, **settings)


CASES = {
    "VideoDictionary(init)": (
        holes(RNG.random((2, 16)), 3),
        lambda X: of_videos(init=X).fit(WHOLE_VIDEO),
    ),
    "VideoDictionary.fit(video)": (VIDEO, lambda X: of_videos().fit(X)),
    "VideoDictionary.fit_pixels(video)": (VIDEO, lambda X: of_videos(mode="pixels").fit_pixels(X)),
    "VideoDictionary.partial_fit(video)": (VIDEO, lambda X: of_videos().partial_fit(X)),
    "VideoDictionary.reconstruct(video)": (
        VIDEO,
        lambda X: of_videos().fit(WHOLE_VIDEO).reconstruct(X),
    ),
    "VideoDictionary.transform(video)": (
        VIDEO,
        lambda X: of_videos().fit(WHOLE_VIDEO).transform(X),
    ),
    "looks.plots.time_courses_data(codes)": (
        CODES,
        lambda X: plots.time_courses_data(of_videos().fit(WHOLE_VIDEO), X),
    ),
}
assert len(CASES) == 7
