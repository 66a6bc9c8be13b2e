"""A model of atoms made of samples, by its schedule."""

from atomstream import OnlineConvexMF

CASES = {
    "convex": lambda schedule: OnlineConvexMF(
        3, n_representatives=15, schedule=schedule, random_state=0
    ),
}
