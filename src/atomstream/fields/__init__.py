"""Fields: what is of one kind of data or one paper alone, each a folder that can be taken out.

Its ``field.toml`` declares what a field adds to models, runs, looks, files and commands
(`atomstream.base.declared`); nothing else in the package names it.
"""
