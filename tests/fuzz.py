"""Damage files, read them, and look for anything but rows or one sentence.

A script: ``python tests/fuzz.py --seconds 600`` (``make fuzz``); `house/test_fuzz.py` runs a slice.
Small files of every kind that is read (`fuzz_kinds.py`) are cut, spliced and overwritten. A damaged
file that reaches a line of the package that no file of its kind has reached before, or that leads
to a new outcome (another sentence, another number of rows), is damaged further. A file that went
wrong stays in the folder that the last line names.
"""

import argparse
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import cache, partial
from pathlib import Path

from fuzz_files import words
from fuzz_kinds import KINDS, run_of

import atomstream
from atomstream.exceptions import InputError, ModelFileError
from atomstream.io import hdf5, source

REFUSED = (InputError, ModelFileError)
POOL = 200  # damaged files of each kind that are damaged further
TRIAL = 0.5  # seconds that the trial of an HDF5 file may take here
MOST_MEMORY = 12 << 30  # of address space
SLOW = 20.0  # seconds of a processor that no case may take
PACKAGE = str(Path(atomstream.__file__).parent)
TOKENS = [
    b"\n", b",", b"\0", b'"', b"-1", b"1e999", b"nan", b"inf", b"99999999999999999999", b"\xff\xfe",
    b"[" * 300, b"{", b"}", b"null", b"true", b"%", b"\r\n", b"\t", b";", b"=", b"0x1", b"1_000",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"\xff" * 8, b"\x00" * 8, b"(", b"2**40", "雪".encode(),
]  # fmt: skip


def damaged(data, rng, pool):
    """Return data that were cut, spliced, overwritten or made larger, one to four times."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(8)
        length = rng.choice((1, 1, 2, 4, 8, 30))
        if how == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[place : place + length] = rng.randbytes(length)
        elif how == 2:
            del data[place : place + length]
        elif how == 3:
            data[place:place] = rng.choice(TOKENS)
        elif how == 4:
            token = rng.choice(TOKENS)
            data[place : place + len(token)] = token
        elif how == 5:
            data[place:place] = data[place : place + length] * rng.choice((1, 2, 50))
        elif how == 6:
            other = rng.choice(pool)
            data[place:] = other[rng.randrange(len(other) + 1) :]
        else:
            number = re.search(rb"\d+", bytes(data[place:]))
            if number:
                begin, end = (place + n for n in number.span())
                values = (b"0", b"1", b"-1", b"2", b"4294967296", b"9223372036854775807")
                data[begin:end] = rng.choice(values)
    return bytes(data[: 1 << 16])


@cache
def trials():
    """Start the process that tries HDF5 files."""
    command = [sys.executable, str(Path(__file__).with_name("fuzz_trials.py"))]
    return subprocess.Popen(command, stdin=-1, stdout=-1, text=True)


def ended(path, contents, seconds, memory):
    """Do what `hdf5.ended` does, in a process that has loaded the library already."""
    what = "contents" if contents else "arrays"
    print(min(seconds, TRIAL), memory, what, path, sep="\t", file=trials().stdin, flush=True)
    code = int(trials().stdout.readline())
    return None if code == -signal.SIGALRM else code


class Coverage:
    """Lines of the package that were reached; a function whose lines all were is not traced.

    Attributes
    ----------
    n_lines : int
        Lines reached so far.
    """

    def __init__(self):
        self.n_lines, self._left = 0, {}

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _called(self, frame, event, _):
        code = frame.f_code
        if code not in self._left:
            ours = code.co_filename.startswith(PACKAGE)
            self._left[code] = {line for *_, line in code.co_lines()} if ours else set()
        return self._line if self._left[code] else None

    def _line(self, frame, event, _):
        left = self._left[frame.f_code]
        if event == "line" and frame.f_lineno in left:
            left.remove(frame.f_lineno)
            self.n_lines += 1
        return self._line


class Fuzz:
    """Cases that follow from a seed.

    Parameters
    ----------
    seed : int
    kinds : sequence of str
    folder : path
    """

    def __init__(self, seed, kinds, folder):
        self.seed, self.kinds, self.folder = seed, list(kinds), Path(folder)
        self.pools = {kind: KINDS[kind][1]() for kind in self.kinds}
        self.outcomes = {kind: Counter() for kind in self.kinds}
        self.coverage = {kind: Coverage() for kind in self.kinds}

    def case(self, number):
        """Run a case; return a complaint, or None."""
        rng = random.Random(self.seed * 2**40 + number)
        kind = self.kinds[number % len(self.kinds)]
        name, _, read, after = KINDS[kind]
        pool, coverage = self.pools[kind], self.coverage[kind]
        data = damaged(rng.choice(pool), rng, pool)
        written = data if after is None else after(data)
        path = self.folder / name
        path.write_bytes(written)
        hdf5.tried.cache_clear()  # written too quickly for the clock of the disk
        began, reached, said = time.process_time(), coverage.n_lines, None
        try:
            read = partial(run_of, kind) if read is None else read
            with coverage:
                outcome = read(written if isinstance(read, partial) else path)
        except REFUSED as error:
            said = str(error)
        except BaseException as error:
            (self.folder / f"case-{number}-{name}").write_bytes(written)
            (self.folder / f"case-{number}.txt").write_text(traceback.format_exc())
            return f"case {number} ({kind}): {type(error).__name__}: {error!s:.300}"
        if said is not None:  # here nothing is left of what a library took
            outcome = words(said)
        if time.process_time() - began > SLOW:
            (self.folder / f"case-{number}-{name}").write_bytes(written)
            return f"case {number} ({kind}) took {time.process_time() - began:.1f} s"
        found = self.outcomes[kind]
        new = coverage.n_lines > reached or str(outcome) not in found
        if new and len(pool) < POOL:
            pool.append(data)
        found[str(outcome)] += 1
        return None


def main(arguments=None):
    """Run cases until the time is over; return how many went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, default=2**40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="separated by commas")
    parser.add_argument("--folder", default=None, help="where damaged files that went wrong stay")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    folder = Path(given.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    source.max_memory.set(10**8)
    hdf5.ended = ended
    # The HDF5 library takes the memory that a damaged file claims before anybody can ask.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    fuzz = Fuzz(given.seed, [name for name in KINDS if name in given.kinds.split(",")], folder)
    end, number, wrong = time.monotonic() + given.seconds, 0, []
    while time.monotonic() < end and number < given.cases:
        if complaint := fuzz.case(number):
            wrong.append(complaint)
            print(complaint, flush=True)
        number += 1
    found = [pair for counts in fuzz.outcomes.values() for pair in counts.items()]
    n_read = sum(n for outcome, n in found if outcome[0] in "('0123456789")
    n_lines = sum(coverage.n_lines for coverage in fuzz.coverage.values())
    print(
        f"{number:,} cases, {n_lines:,} lines reached, {len(found):,} different outcomes, "
        f"{n_read:,} files that could be read, {len(wrong)} wrong ({folder})"
    )
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main()))
