"""Tell by what code each record was made, beside the code that is checked out.

``python benchmarks/same_code.py`` compares, for the commit that each record names, the syntax trees
of the package, of the record's script and of the scripts that this imports with those of HEAD.
Docstrings and comments do not count. Records that differ in the same functions stand together. The
whole history of the repository has to be there.
"""

import ast
import subprocess
from collections import defaultdict
from functools import cache

from everything import HERE, Checkout, commands


def git(*words: str) -> str:
    """Return what git prints in this checkout."""
    told = ["git", "-C", str(HERE), *words]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout


@cache
def files(commit: str) -> dict[str, str]:
    """Return the Python files of a commit that a record may come from, and their blobs."""
    lines = git("ls-tree", "-r", commit, "src", "benchmarks", "experiments").splitlines()
    found = {line.split("\t")[1]: line.split()[2] for line in lines}
    return {path: blob for path, blob in found.items() if path.endswith(".py")}


@cache
def parts(blob: str) -> dict[str, list[str]]:
    """Return the syntax trees of a file, without docstrings, by the names that stand in it."""
    tree, found = ast.parse(git("cat-file", "blob", blob)), defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    for node in tree.body:
        found[getattr(node, "name", None) or ast.unparse(node)[:30]].append(ast.dump(node))
    return found


@cache
def differing(old: str | None, new: str | None) -> tuple[str, ...]:
    """Return the names in a file that differ between two blobs of it."""
    before, after = (parts(blob) if blob else {} for blob in (old, new))
    return tuple(sorted(name for name in before | after if before.get(name) != after.get(name)))


@cache
def imported(path: str) -> frozenset[str]:
    """Return a script of HEAD and the scripts that it imports."""
    found, left = set(), [path]
    while left:
        found.add(path := left.pop())
        for node in ast.walk(ast.parse(git("cat-file", "blob", files("HEAD")[path]))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            near = {f"{part}/{name}.py" for part in ("benchmarks", "experiments") for name in names}
            left += (near & files("HEAD").keys()) - found
    return frozenset(found)


def differences(commit: str, script: str) -> str:
    """Return what differs between the code of a record and that of HEAD."""
    old, new = files(commit), files("HEAD")
    package = {path for path in old | new if path.startswith("src/")}
    names = {
        path: differing(old.get(path), new.get(path))
        for path in sorted(package | imported(script))
        if old.get(path) != new.get(path)
    }
    return "; ".join(f"{path}: {', '.join(each)}" for path, each in names.items() if each)


def main() -> None:
    """Print the records by what their code differs in, most first."""
    checkout, alike = Checkout(HERE, ""), defaultdict(list)
    for records, told in commands().items():
        for name in records:
            alike[differences(checkout.record(name)["commit"], told[0].split()[0])].append(name)
    for what, names in sorted(alike.items(), key=lambda each: -len(each[1])):
        print(f"{len(names)}: {what or 'no difference'}\n    {' '.join(sorted(names))}")


if __name__ == "__main__":
    main()
