"""The command line, called in the process of the tests."""

import contextlib
import os
import tempfile

from atomstream.cli import main


def run(*arguments):
    """Run a command that must succeed."""
    assert main([str(argument) for argument in arguments]) == 0


def plotted(monkeypatch, path):
    """Run `plot` up to its drawing, which is that of the report: some tenths of a second."""
    drawn = []
    with monkeypatch.context() as patch:
        patch.setattr(
            "atomstream.looks.report._drawn", lambda folder, *_: drawn.append(folder) or []
        )
        run("plot", path)
    assert len(drawn) == 1


def refused(capsys, *arguments):
    """Return the one sentence of a command that must end with exit code 2."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2, arguments
    told = capsys.readouterr()
    assert not told.out
    assert told.err.startswith("Error: ")
    assert told.err.count("\n") == 1, told.err
    return told.err


@contextlib.contextmanager
def standard_input(source):
    """Let commands read a text, which then ends, or a file that is open, as standard input."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, str):
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(source.encode())
            file.seek(0)
            source = file.fileno()
        kept = os.dup(0)
        stack.callback(os.close, kept)
        os.dup2(source, 0)
        stack.callback(os.dup2, kept, 0)
        yield
