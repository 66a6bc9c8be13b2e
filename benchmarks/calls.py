"""What an estimator adds to a step: calls before the loop, and time, of `partial_fit` on one row.

python benchmarks/calls.py                                  # calls and time of this tree
python benchmarks/calls.py --against path/to/other/src      # time in pairs with another tree
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

N_FEATURES, N_ATOMS, N_WARM, N_TIMED = 144, 20, 300, 1200


def calls_before_the_loop(model, batch):
    """Return the Python functions called by ``partial_fit`` before it enters the loop."""
    names = []

    def profile(frame, event, _):
        """Note a call."""
        if event == "call" and (not names or names[-1] != "learn"):
            names.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        model.partial_fit(batch)
    finally:
        sys.setprofile(None)
    return names[: names.index("learn")]


def fitted(rng):
    """Return a model that has learned, and rows to go on with."""
    from atomstream import OnlineNMF

    model = OnlineNMF(N_ATOMS, random_state=0).partial_fit(rng.random((200, N_FEATURES)))
    rows = rng.random((N_WARM + N_TIMED, 1, N_FEATURES))
    for row in rows[:N_WARM]:
        model.partial_fit(row)
    return model, rows[N_WARM:]


def microseconds():
    """Return the median time of a ``partial_fit`` with one row."""
    import numpy as np

    model, rows = fitted(np.random.default_rng(0))
    times = []
    for row in rows:
        begin = time.perf_counter()
        model.partial_fit(row)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def in_process(source):
    """Return the time of another tree, measured in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--time"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        print(microseconds())
        return
    if options.against is None:
        import numpy as np

        model, rows = fitted(np.random.default_rng(0))
        print(f"{len(calls_before_the_loop(model, rows[0]))} calls, {microseconds():.0f} us")
        return
    here, pairs = Path(__file__).parents[1] / "src", []
    for place in range(options.pairs):
        sources = (options.against, here) if place % 2 else (here, options.against)
        times = dict(zip(sources, map(in_process, sources), strict=True))
        pairs.append((times[options.against], times[here]))
    other, own = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(new / old for old, new in pairs)
    print(f"other {other:.0f} us, this {own:.0f} us, ratio {ratio:.2f} ({options.pairs} pairs)")


if __name__ == "__main__":
    main()
