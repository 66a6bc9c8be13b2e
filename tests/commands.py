"""The command line, called in the process of the tests."""

from atomstream.cli import main


def run(*arguments):
    """Run a command that must succeed."""
    assert main([str(argument) for argument in arguments]) == 0


def refused(capsys, *arguments):
    """Return the one sentence of a command that must end with exit code 2."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2, arguments
    told = capsys.readouterr()
    assert not told.out
    assert told.err.startswith("Error: ")
    assert told.err.count("\n") == 1, told.err
    return told.err
