"""The command line: ``atomstream learn``, ``resume``, ``encode``, ``inspect``, ``report`` ..."""

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import click

from atomstream.base import compiling, shown_by, signals_handled
from atomstream.exceptions import IncompatiblePartsError, InputError, ModelFileError

__all__ = ["main"]

BAD_INPUT, TROUBLE, INTERRUPTED, TERMINATED = 2, 1, 130, 143
SHOWN_AFTER = 1.0  # seconds: what is done earlier needs no bar
LINE_EVERY = 10.0  # seconds between lines where there is no terminal
COMPILER, CHOSEN = "atomstream._kernels.compile", "atomstream.base.chosen"  # names of loggers


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code.

    Bad input ends with 2 and one sentence on standard error, in JSON where the command has
    ``--json``; trouble with the system (a full disk) with 1.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    before, code = compiling(), _answer(arguments)
    # An interrupt leaves compilers at work, for which an exit would wait; and if it came while
    # source text was executed, as in imports, Python would end by the signal and not with the code.
    # Both streams are flushed by hand, for an exit at once runs no cleanup.
    if compiling() - before or (arguments is None and code == INTERRUPTED):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _answer(arguments: Sequence[str] | None) -> int:
    """Run a command; return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    complain = partial(_complain, "--json" in given)
    try:
        with waiting():
            # Here, so that signals are answered while the package is loaded.
            from atomstream.cli.commands import commands

            # Where the process is for the command alone, ways to save time are open.
            own = arguments is None
            known: Any = {"prog_name": "atomstream", "standalone_mode": False, "obj": own}
            result = commands.main(args=arguments, **known)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT
    except click.ClickException as error:
        return complain(error.format_message(), BAD_INPUT)
    except (InputError, ModelFileError, IncompatiblePartsError) as error:
        return complain(str(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt) as error:
        # Click turns an interrupt into its own Abort and keeps ours as the cause.
        ended = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
        return complain("Interrupted.", TERMINATED if ended else INTERRUPTED)
    except BrokenPipeError:  # whoever read the results has seen enough
        sys.stderr.close()
        return 0
    except (OSError, MemoryError) as error:
        return complain(_trouble(error), TROUBLE)
    return result if isinstance(result, int) else 0


def _complain(as_json: bool, sentence: str, code: int) -> int:
    from atomstream.base import printable  # here, for it loads NumPy

    # One line, whatever the text holds: logs and scripts read lines.
    line = printable(" ".join(sentence.split()))
    text = json.dumps({"error": line, "exit_code": code}) if as_json else f"Error: {line}"
    click.echo(text, err=True)
    return code


def _trouble(error: OSError | MemoryError) -> str:
    """Return what the system complains about; of a full disk also the file and what to do."""
    from atomstream.io.files import FULL

    if not isinstance(error, OSError) or error.errno not in FULL:
        return str(error) or "Out of memory."
    # Notes of others, as of a library that writes files, are no advice.
    notes = [note for note in getattr(error, "__notes__", ()) if "atomstream resume" in note]
    step = notes[0] if notes else "give the command again"
    written = f"{error.filename or 'A file'} could not be written: {error.strerror}."
    return f"{written} Make room there, then {step}."


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


@contextmanager
def waiting() -> Iterator[None]:
    """Show the progress of the body, say when kernels are compiled, and end cleanly at SIGTERM."""

    def end(*_: object) -> None:
        """Raise, so that what is half written is put away."""
        raise Terminated

    handled = signals_handled(end, [signal.SIGTERM], {})
    compiler, chosen = logging.getLogger(COMPILER), logging.getLogger(CHOSEN)
    said = _shown(compiler, logging.StreamHandler()), _shown(chosen, _Guesses())
    with handled, said[0], said[1], shown_by(_Progress()):
        yield


class _Guesses(logging.Handler):
    """Writes what was guessed for a model or an input to standard error, in one line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the choices that were read off the data, if there are any."""
        from atomstream.base import told  # here, for it loads NumPy

        told_of: Any = record
        guesses = {name: it for name, it in told_of.choices.items() if it.guessed}
        if guesses:
            click.echo(f"Chosen for {told_of.what}: {told(guesses)}", err=True)


@contextmanager
def _shown(logger: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    """Hand the records of a logger to a handler, from INFO on."""
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Progress:
    """A bar on a terminal, and a line now and then elsewhere; of nested work the outermost."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, items: Iterable[Any], n_items: int | None, text: str) -> Iterator[Any]:
        """Yield the items."""
        if self._shown:
            yield from items
            return
        self._shown, bar = True, _Bar(n_items, text)
        try:
            for item in items:
                yield item
                bar.advance()
        finally:
            self._shown = False
            bar.close()


class _Bar:
    """The progress of one thing."""

    def __init__(self, n_items: int | None, text: str) -> None:
        self._n_items, self._text, self._n_done = n_items, text, 0
        self._began = self._last = time.monotonic()
        self._drawn: Any = None

    def advance(self) -> None:
        """Count one item."""
        self._n_done += 1
        now = time.monotonic()
        if now - self._began < SHOWN_AFTER:
            return
        with suppress(OSError):  # the terminal may be gone; the work continues
            self._draw(now)

    def _draw(self, now: float) -> None:
        if self._drawn is None:
            # Made late: loading what draws takes longer than most commands.
            from rich.console import Console
            from rich.progress import Progress

            self._drawn = Progress(console=Console(stderr=True), transient=True)
            self._drawn.add_task(self._text, total=self._n_items)
        console = self._drawn.console
        if console.is_terminal:
            self._drawn.start()
            self._drawn.update(self._drawn.task_ids[0], completed=self._n_done)
        elif now - self._last >= LINE_EVERY:
            self._last = now
            console.print(f"{self._text}: {self._line(now)}", soft_wrap=True)

    def _line(self, now: float) -> str:
        if not self._n_items:
            return f"{now - self._began:.0f} s"
        # At the mean pace so far: batches cost the same, but for the first ones, which compile.
        left = (now - self._began) * (self._n_items - self._n_done) / self._n_done
        return f"{100 * self._n_done / self._n_items:.0f} %, {left:.0f} s left"

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn is not None and self._drawn.console.is_terminal:
            with suppress(OSError):
                self._drawn.stop()
