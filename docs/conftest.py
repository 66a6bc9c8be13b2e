"""What pytest leaves out here: the build of the site, which needs Sphinx."""

collect_ignore_glob = ["_build/*", "_ext/*", "conf.py"]
