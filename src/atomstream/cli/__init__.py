"""The command line: ``atomstream learn``, ``resume``, ``encode``, ``inspect``, ``report`` ..."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from atomstream.exceptions import IncompatiblePartsError, InputError, ModelFileError

__all__ = ["main"]

BAD_INPUT, TROUBLE, INTERRUPTED, TERMINATED = 2, 1, 130, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code.

    Bad input ends with 2 and one sentence on standard error, trouble with the system (a full disk)
    with 1.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    from atomstream.base.progress import compiling

    before, code = compiling(), _answer(arguments)
    if compiling() - before:  # an interrupt has left them at work, and an exit would wait for them
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _answer(arguments: Sequence[str] | None) -> int:
    """Run a command; return its exit code."""
    from atomstream.cli.commands import commands
    from atomstream.cli.waiting import Terminated, waiting

    try:
        with waiting():
            result = commands.main(args=arguments, prog_name="atomstream", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT
    except click.ClickException as error:
        return _complain(error.format_message(), BAD_INPUT)
    except (InputError, ModelFileError, IncompatiblePartsError) as error:
        return _complain(str(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt) as error:
        ended = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
        return _complain("Interrupted.", TERMINATED if ended else INTERRUPTED)
    except BrokenPipeError:  # whoever read the results has seen enough
        sys.stderr.close()
        return 0
    except (OSError, MemoryError) as error:
        return _complain(str(error) or "Out of memory.", TROUBLE)
    return result if isinstance(result, int) else 0


def _complain(sentence: str, code: int) -> int:
    from atomstream.io.outputs import printable

    click.echo(f"Error: {printable(' '.join(sentence.split()))}", err=True)
    return code
