"""The commands of the command line, all loaded: sphinx-click does not ask groups that wait."""

import click

from atomstream.cli.commands import commands as lazy


def loaded(group: click.Group) -> click.Group:
    """Return a group like this one whose commands are all there."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    inner = {
        name: loaded(each) if isinstance(each, click.Group) else each
        for name, each in found.items()
    }
    return click.Group(group.name, commands=inner, params=group.params, help=group.help)


commands = loaded(lazy)
