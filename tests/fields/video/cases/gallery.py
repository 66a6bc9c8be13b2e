"""Every plot of videos."""

from drawn import of
from sklearn.base import clone
from zoo import ZOO

from atomstream import plots

CASES = {
    "spatial_atoms": lambda: plots.spatial_atoms(of("frames")),
    "temporal_atoms": lambda: plots.temporal_atoms(
        clone(of("frames")).set_params(mode="pixels").fit(ZOO["frames"][1]())
    ),
    "time_courses": lambda: plots.time_courses(
        of("frames"), of("frames").transform(ZOO["frames"][1]())
    ),
}
