"""The folder of a run: settings, inputs, checkpoints, log; one writer, and nothing half written."""

import json
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import atomstream
from atomstream.base import counted
from atomstream.exceptions import InputError, ModelFileError, NewerFormatError
from atomstream.files.codec import SENSELESS, write_model
from atomstream.io import PART, Input, make_folder, naming_if_full, sync_folder, whole_file
from atomstream.runs.lock import is_locked, locked
from atomstream.runs.settings import Settings, kind_of, read_settings, write_settings
from atomstream.runs.task import Task, as_input_error, read_checkpoint, task_named
from atomstream.watch import Event, Trace

log = logging.getLogger(__name__)

FORMAT = 1  # of folders
STEP = re.compile(r"step-(\d+)\.atoms")


class Log:
    """What happened in a run, and how its numbers went, as lines of JSON.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path) -> None:
        self.path, self.history = folder / "log.jsonl", folder / "history.jsonl"
        self._told = (0, 0)  # of the history: steps between points, points written

    def write(self, event: str, **facts: Any) -> None:
        """Add a line."""
        line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event} | facts
        with naming_if_full(self.path), self.path.open("a+b") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 1, 0))
            cut = file.read(1) not in (b"", b"\n")  # a kill may have cut the last line
            # The end is looked at first: a line added to half of another would lose both.
            file.write(b"\n" * cut + json.dumps(line).encode() + b"\n")

    def events(self) -> list[dict[str, Any]]:
        """Return the lines that are whole."""
        events = []
        with suppress(OSError, ValueError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError, RecursionError):
                    event = json.loads(line)
                    events += [event] * isinstance(event, dict)
        return events

    def write_history(self, trace: Trace) -> None:
        """Bring ``history.jsonl`` up to date: new points are added, or all are written anew."""
        path, (every, n_written) = self.history, self._told
        self._told = (0, 0)  # after a write that fails, all points are written anew
        # A history thins itself: then every second point that was written is wrong to keep, and the
        # file is written anew.
        if every == trace.every and n_written <= len(trace.n_samples):
            with naming_if_full(path), path.open("a", encoding="utf-8") as file:
                file.writelines(trace.lines(n_written))
        else:
            with whole_file(path) as file:
                file.writelines(line.encode() for line in trace.lines())
        self._told = (trace.every, len(trace.n_samples))

    def write_events(self, events: Iterable[Event]) -> None:
        """Add what became of the atoms to the history of a complete run."""
        self._told = (0, 0)  # a run that goes on writes its points anew
        with naming_if_full(self.history), self.history.open("a", encoding="utf-8") as file:
            for event in events:
                known = event._asdict()
                # The key "event" tells these lines from points, which have none.
                line = {"event": known.pop("kind")} | known
                file.write(json.dumps(line, default=str) + "\n")  # dates as text


class RunFolder:
    """A run on disk.

    ``run.toml`` holds the settings, ``inputs.json`` what the inputs were, ``model.atoms`` the
    newest state, ``checkpoints`` the last few, ``log.jsonl`` what happened, ``history.jsonl`` the
    points of a `Trace`.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.model = self.path / "model.atoms"
        self.checkpoints = self.path / "checkpoints"
        self._newest: Path | None = None  # of the states written or read
        self.log = Log(self.path)
        self._settings, self._inputs = self.path / "run.toml", self.path / "inputs.json"
        self._lock = self.path / ".lock"

    @property
    def exists(self) -> bool:
        """Whether a run has begun here."""
        return self._settings.exists()

    def check(self) -> None:
        """Refuse a folder without a run, and one with entries that lead elsewhere or wait."""
        self._check_entries()
        if not self.exists:
            raise InputError(
                f"{self.path} holds no run; begin one with: atomstream learn INPUT --out "
                f"{self.path}"
            )
        self._recorded()

    def _check_entries(self) -> None:
        """Refuse links out of the run or to nothing, and pipes and devices, which never end."""
        inside = os.path.realpath(self.path)  # Path.resolve raises at a link to itself
        for folder in (self.path, self.checkpoints, self.path / "figures"):
            for entry in folder.iterdir() if folder.is_dir() else ():
                # A folder may come from somebody else: a link could make a report overwrite any
                # file of the reader.
                if not Path(os.path.realpath(entry)).is_relative_to(inside):
                    raise InputError(
                        f"{entry} is a link out of the run; put the file in its place."
                    )
                if entry.is_symlink() and not entry.exists():
                    raise InputError(f"{entry} is a link to itself or to nothing; remove it.")
                if entry.exists() and not (entry.is_file() or entry.is_dir()):
                    raise InputError(f"{entry} is neither a file nor a folder; remove it.")

    # -- settings and inputs

    def begin(self, settings: Settings, sources: Sequence[Input]) -> None:
        """Write what the run is asked to do, settings last: a folder with settings holds a run."""
        inputs = [{"name": source.name, "fingerprint": source.fingerprint()} for source in sources]
        library = {"format": FORMAT, "library": atomstream.__version__}
        # A random name, not the path: folders are moved, and two runs may have the same settings.
        facts = {"run": secrets.token_hex(8), "inputs": inputs} | library
        # Inputs first: whoever finds settings may rely on all that belongs to them.
        with whole_file(self._inputs) as file:
            file.write(json.dumps(facts, indent=1).encode())
        self.write_settings(settings)

    def write_settings(self, settings: Settings) -> None:
        """Write settings in place of those that are there."""
        with whole_file(self._settings) as file:
            file.write(write_settings(settings).encode())

    def task(self) -> type[Task]:
        """Return the kind of the run."""
        self.check()
        return as_input_error(self._settings, lambda: task_named(kind_of(self._settings)))

    def settings(self) -> Any:
        """Return the settings of the run."""
        kind = self.task().settings_type
        return as_input_error(self._settings, lambda: kind(**read_settings(self._settings, kind)))

    def check_inputs(self, sources: Sequence[Input]) -> None:
        """Refuse inputs that are not what they were when the run began."""
        _, before = self._recorded()
        if len(sources) != len(before):
            raise InputError(
                f"{self._settings} names {counted(len(sources), 'input')}, the run began "
                f"with {len(before)}."
            )
        for source, was in zip(sources, before, strict=True):
            if source.fingerprint() != was:
                raise InputError(
                    f"{source.name} has changed since the run began; begin a new run, or bring the "
                    "old input back."
                )

    def _recorded(self) -> tuple[str, list[Any]]:
        """Return what tells this run from others, and the fingerprints of its inputs at first."""
        try:
            facts = json.loads(self._inputs.read_text(encoding="utf-8"))
            known, library = facts.get("format"), facts.get("library")
            # All keys are read here, so that a damaged file is found at once and not in the middle
            # of a run; a later release may have changed what any of them means.
            if known == FORMAT:
                return str(facts["run"]), [was["fingerprint"] for was in facts["inputs"]]
        except (OSError, *SENSELESS) as error:
            raise InputError(f"{self._inputs} cannot be read: {error!r:.200}") from None
        raise NewerFormatError(
            f"{self.path} was begun by atomstream {library!s:.40} in format {known!r:.20}, and "
            f"this release reads format {FORMAT} only."
        )

    # -- state

    def save(self, model: Any, notes: dict[str, Any], keep: int) -> None:
        """Write a checkpoint, make it the model of the run, and drop all but the last few."""
        make_folder(self.checkpoints)
        # Padded to twelve digits, so that names sort as their steps do.
        steps = model.n_steps_ if model.__sklearn_is_fitted__() else 0
        path = self.checkpoints / f"step-{steps:012d}.atoms"
        write_model(path, model, notes | {"run": self._recorded()[0]})
        self._newest = path
        self.publish()
        log.info("Checkpoint %s written.", path)
        # Only after the new one is the model of the run: at any moment at least one whole state
        # exists.
        for old in self._saved()[keep:]:
            old.unlink(missing_ok=True)

    def publish(self) -> None:
        """Make the newest state the model of the run; a kill may have come before that was done."""
        path = self._newest
        # Nothing to do where the model is the same file by another name: the usual case on resume.
        if path is None or (self.model.exists() and path.samefile(self.model)):
            return
        link = self.model.with_name(f".{self.model.name}.{secrets.token_hex(4)}{PART}")
        # A second name for the same bytes costs no space and no time, however large the model is.
        try:
            os.link(path, link)
        except OSError:  # a file system without links
            with whole_file(self.model) as file, path.open("rb") as source:
                shutil.copyfileobj(source, file)
            return
        try:
            # A link cannot replace a file, but a rename can, and others see the old model or the
            # new one.
            os.replace(link, self.model)
        except BaseException:
            link.unlink(missing_ok=True)
            raise
        sync_folder(self.path)

    def load(self) -> tuple[Any, dict[str, Any], list[str]] | None:
        """Return model, notes and complaints of the newest state that can be read, or None.

        Raises
        ------
        ModelFileError
            Where there are files and none can be read.
        """
        complaints: list[str] = []
        # The newest that can be read: a disk that filled up may have left the last one cut.
        for path in [*self._saved(), *([self.model] if self.model.exists() else [])]:
            try:
                model, notes = read_checkpoint(path)
            except (ModelFileError, OSError) as error:
                complaints.append(str(error))
                continue
            # A checkpoint copied from elsewhere would continue as if it were this run.
            if notes.get("run") != self._recorded()[0]:
                complaints.append(f"{path} belongs to another run.")
                continue
            self._newest = path
            return model, notes, complaints
        if complaints:
            raise ModelFileError(complaints[0])
        return None

    def _saved(self) -> list[Path]:
        """Return the checkpoints, newest first."""
        found = self.checkpoints.iterdir() if self.checkpoints.exists() else ()
        return sorted((path for path in found if STEP.fullmatch(path.name)), reverse=True)

    def check_free(self) -> None:
        """Refuse a folder that holds a run."""
        if self.exists:
            raise InputError(
                f"{self.path} holds a run already; go on with: atomstream resume {self.path}, "
                "or choose another --out."
            )

    @contextmanager
    def beginning(self, settings: Settings, sources: Sequence[Input]) -> Iterator[None]:
        """Hold the folder while a run begins; a run that could not learn anything is removed."""
        # Remembered before they are made, so that a failed start leaves no empty folders behind.
        made = [path for path in (self.path, *self.path.parents) if not path.exists()]
        with ExitStack() as undo:
            undo.callback(_remove_empty, made)  # after the lock, whose file lies there, is free
            with self.writing():
                self.check_free()  # another process may have ended a run here meanwhile
                try:
                    self.begin(settings, sources)
                    self.log.write("begin", inputs=list(settings.inputs))
                    yield
                except BaseException:
                    self._forget()
                    raise

    @property
    def has_state(self) -> bool:
        """Whether something that was learned is on disk."""
        return self.model.exists() or bool(self._saved())

    def _forget(self) -> None:
        """Remove a run that has not learned anything."""
        if self.has_state:
            return
        # Settings go first, as they came last: half a removal leaves a folder that holds no run.
        for path in (self._settings, self._inputs, self.log.path, self.log.history):
            with suppress(OSError):  # Windows removes no open file
                path.unlink(missing_ok=True)
        _remove_empty([self.checkpoints])

    def _clean(self) -> None:
        """Remove what a process that was killed left half written."""
        for folder in (self.path, self.checkpoints, self.path / "figures"):
            for part in folder.glob(f".*{PART}"):
                part.unlink(missing_ok=True)

    # -- lock

    @property
    def at_work(self) -> bool:
        """Whether a process holds the folder at this moment."""
        return is_locked(self._lock)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder; a second writer is refused, and a writer that died holds nothing."""
        with ExitStack() as held:
            try:
                make_folder(self.path)
                held.enter_context(locked(self._lock))
            except BlockingIOError:
                raise InputError(
                    f"{self.path} is being written by another process; wait until it has ended."
                ) from None
            except OSError as error:
                raise InputError(f"{self.path} cannot be written to: {error.strerror}.") from None
            # Again under the lock: entries may have been put here between the check and now.
            self._check_entries()
            self._clean()
            yield


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, as far as they are there and hold nothing."""
    with suppress(OSError):
        for folder in folders:
            if folder.exists():
                folder.rmdir()
