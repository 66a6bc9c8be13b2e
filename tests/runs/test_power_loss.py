"""Power loss and full disks: on a disk that keeps only what was synced, every state is a run.

The calls by which a run is written are watched. Of each moment the disks are built that a power
loss may leave: content of files that were not synced is gone, and of the names that were made,
moved or removed in a folder since its last sync any part may be there.
"""

import copy
import errno
import os
import random
from pathlib import Path

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.exceptions import InputError
from atomstream.io.files import PART
from atomstream.runs.folder import RunFolder
from atomstream.runs.tasks._rows_settings import RowsSettings

X = np.random.default_rng(0).random((40, 4))
CALLS = ("open", "replace", "link", "mkdir", "unlink", "fsync")


class Disk:
    """Watches the calls of `os` below a folder; one of them may be made to fail."""

    def __init__(self, root, monkeypatch, *, links=True, fail_at=None, error=errno.EIO):
        self.root, self.links, self.fail_at, self.error = root, links, fail_at, error
        self.events, self.n_calls, self.failed = [], 0, ""
        self.real = {name: getattr(os, name) for name in (*CALLS, "fdopen")}
        for name in CALLS:
            monkeypatch.setattr(os, name, getattr(self, name))
        monkeypatch.setattr(os, "fdopen", self.fdopen)

    def inside(self, path):
        return Path(path).is_relative_to(self.root)

    def call(self, what):
        """Count a call, and fail at the chosen one."""
        self.n_calls += 1
        if self.n_calls - 1 == self.fail_at:
            self.failed = what
            raise OSError(self.error, os.strerror(self.error))

    def note(self, kind, folder, *rest):
        self.events.append((kind, Path(folder), *rest))

    def open(self, path, flags, mode=0o777, **more):
        if self.inside(path) and flags & os.O_CREAT:
            self.call("open")
            handle = self.real["open"](path, flags, mode, **more)
            self.note("name", Path(path).parent, {Path(path).name: os.fstat(handle).st_ino})
            return handle
        return self.real["open"](path, flags, mode, **more)

    def fdopen(self, *arguments, **more):
        return Written(self, self.real["fdopen"](*arguments, **more))

    def replace(self, old, new, **more):
        self.call("replace")
        number = os.stat(old).st_ino
        self.real["replace"](old, new, **more)
        self.note("name", Path(new).parent, {Path(old).name: None, Path(new).name: number})

    def link(self, old, new, **more):
        self.call("link")
        if not self.links:
            raise OSError(errno.EPERM, "no links here")
        self.real["link"](old, new, **more)
        self.note("name", Path(new).parent, {Path(new).name: os.stat(new).st_ino})

    def mkdir(self, path, *arguments, **more):
        if self.inside(path):
            self.call("mkdir")
            self.note("folder", Path(path).parent, Path(path).name)
        return self.real["mkdir"](path, *arguments, **more)

    def unlink(self, path, **more):
        self.real["unlink"](path, **more)
        if self.inside(path):
            self.note("name", Path(path).parent, {Path(path).name: None})

    def fsync(self, handle):
        self.call("fsync")
        about = os.fstat(handle)
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            self.note("sync", os.readlink(f"/proc/self/fd/{handle}"))
        else:
            content = Path(f"/proc/self/fd/{handle}").read_bytes()
            self.note("content", self.root, about.st_ino, content)
        self.real["fsync"](handle)


class Written:
    """A file whose every write is a call that may fail."""

    def __init__(self, disk, file):
        self._disk, self._file = disk, file

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *error):
        return self._file.__exit__(*error)

    def write(self, data):
        self._disk.call("write")
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


def left(events, root, elsewhere, lost):
    """Build below another folder what a power loss after these events leaves.

    ``lost`` says of a change of names that was not synced whether it is lost.
    """
    synced = {}
    for place, (kind, folder, *_) in enumerate(events):
        if kind == "sync":
            synced[folder] = place
    folders, names, content = {root}, {}, {}
    for place, (kind, folder, *rest) in enumerate(events):
        if kind == "content":
            content[rest[0]] = rest[1]
        if kind in ("name", "folder") and place > synced.get(folder, -1) and lost():
            continue
        if kind == "folder" and folder in folders:
            folders.add(folder / rest[0])
        if kind == "name":
            names |= {folder / name: number for name, number in rest[0].items()}
    for folder in sorted(folders):
        (elsewhere / folder.relative_to(root)).mkdir(exist_ok=True, parents=True)
    for path, number in names.items():
        if number is not None and path.parent in folders:
            (elsewhere / path.relative_to(root)).write_bytes(content.get(number, b""))
    return elsewhere


class Named:
    name = "x.csv"

    def fingerprint(self):
        return "0"


def saves(path, disk, models):
    """Begin a run and save its models; note each that the caller was told to be safe."""
    folder = RunFolder(path)
    with folder.writing():
        folder.begin(RowsSettings(inputs=("x.csv",), atoms=2), [Named()])
        disk.events.append(("begun", path))
        for model in models:
            folder.save(model, {"seconds": 0.0}, keep=2)
            disk.events.append(("saved", path, model.n_steps_))


@pytest.fixture(scope="module")
def models():
    learned, found = OnlineNMF(2, random_state=0), []
    for _ in range(4):
        learned.partial_fit(X)
        found.append(copy.copy(learned))
    return found


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc"),
]


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_every_state_that_a_power_loss_leaves_is_a_run(tmp_path, models, links):
    root, rng = tmp_path / "disk", random.Random(0)
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(root, patch, links=links)
        saves(root / "new/runs/run", disk, models[:3])
    n_states = 0
    for end in range(1, len(disk.events) + 1):
        events = disk.events[:end]
        steps = max((rest[0] for kind, _, *rest in events if kind == "saved"), default=0)
        begun = any(kind == "begun" for kind, *_ in events)
        happened = [event for event in events if event[0] not in ("saved", "begun")]
        chances = [lambda: True, lambda: False, *[lambda: rng.random() < 0.5] * 3]
        for lost in chances:
            path = left(happened, root, tmp_path / f"left-{n_states}", lost) / "new/runs/run"
            n_states += 1
            folder = RunFolder(path)
            if not begun:
                continue
            folder.check()
            assert folder.settings().atoms == 2
            found = folder.load()
            assert (found is None) if not steps and found is None else found[0].n_steps_ >= steps
            if found is not None and folder.model.exists():
                assert RunFolder(path).load()[0].n_steps_ >= steps
    assert n_states > 150


@pytest.mark.cover(2)
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_every_call_may_fail(tmp_path, models, links, error):
    n_failed = 0
    while True:
        root = tmp_path / f"disk-{n_failed}"
        root.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(root, patch, links=links, fail_at=n_failed, error=error)
            try:
                saves(root / "new/run", disk, models[:2])
                complete = True
            except (OSError, InputError):
                complete = False
        left_over = [path for path in root.rglob("*") if path.name.endswith(PART)]
        assert not left_over
        steps = max((rest[0] for kind, _, *rest in disk.events if kind == "saved"), default=0)
        folder = RunFolder(root / "new/run")
        if any(kind == "begun" for kind, *_ in disk.events):
            found = folder.load()
            assert (found[0].n_steps_ if found else 0) >= steps
            with folder.writing():
                folder.save(models[3], {"seconds": 0.0}, keep=2)
            assert folder.load()[0].n_steps_ == models[3].n_steps_
        if disk.n_calls <= n_failed:
            break
        assert not complete or disk.failed == "link"  # which a copy stands in for
        n_failed += 1
    assert n_failed > 25
