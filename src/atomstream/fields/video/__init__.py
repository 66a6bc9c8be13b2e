"""Videos: dictionaries of frames, or of the courses of pixels over time.

Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal data",
section 3.5 with figures 3.3 to 3.5. Read `frames` (videos in files and arrays, a frame or a course
at a time), `coding` (codes and reconstructions of both) and `model`, the estimator, with its
`parameters`; then `look` (atoms as images and as curves, and when they changed) and `run`
(``atomstream video learn``). Changes are found by those of series.
"""
