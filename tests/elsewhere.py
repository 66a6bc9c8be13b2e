"""Run the tests of what was learned as other machines would: make test-elsewhere.

Each setting is tried alone: kernels of BLAS and kernels of ours for other processors, two threads
of BLAS instead of one, and other seeds. None of these tests may use more than `room.MOST_ROOM` of
its room. Kernels of BLAS that this processor cannot run are left out, and named.
"""

import os
import subprocess
import sys
import time

from room import ELSEWHERE

SEED = "ATOMSTREAM_TEST_SEED"
# Kernels of OpenBLAS without AVX, with AVX2, with AVX-512, and what it calls them itself.
KERNELS = {"Prescott": "Katmai", "Haswell": "Haswell", "SkylakeX": "SkylakeX"}
PYTEST = [sys.executable, "-m", "pytest", "-n", "2", "-q", "--no-header", "tests", "-m"]
TRIAL = """
import numpy, threadpoolctl
numpy.ones((300, 300)) @ numpy.ones((300, 300))
print(*(library.get("architecture") for library in threadpoolctl.threadpool_info()))
"""


def runs(kernels):
    """Return whether BLAS takes these kernels on this processor, and survives a product."""
    variables = os.environ | {"OPENBLAS_CORETYPE": kernels}
    done = subprocess.run(
        [sys.executable, "-c", TRIAL], env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and bool({kernels, KERNELS[kernels]} & set(done.stdout.split()))


def settings():
    """Return the variables of each setting by its name, and the kernels that cannot run here."""
    able = {kernels: runs(kernels) for kernels in KERNELS}
    found = {"as it is": {}}
    found |= {f"BLAS for {name}": {"OPENBLAS_CORETYPE": name} for name in KERNELS if able[name]}
    found["kernels for any processor"] = {"NUMBA_CPU_NAME": "generic"}
    found["two threads"] = {"OMP_NUM_THREADS": "2"}
    found |= {f"seeds shifted by {shift}000": {SEED: str(shift)} for shift in (1, 2)}
    return found, [name for name in KERNELS if not able[name]]


def main():
    found, left_out = settings()
    for name in left_out:
        print(f"left out: BLAS for {name}, which this processor cannot run")
    failed = []
    for name, variables in found.items():
        began = time.monotonic()
        print(f"\n== {name} {variables or ''}", flush=True)
        # Tests of one seed say nothing of others: their long forms take medians.
        which = "learned and not short" if SEED in variables else "learned"
        variables = os.environ | {ELSEWHERE: "1"} | variables
        done = subprocess.run([*PYTEST, which], env=variables, check=False)
        print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
        failed += [name] * (done.returncode != 0)
    print(f"\n{len(found)} settings tried; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
