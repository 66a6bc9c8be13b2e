"""What the code of a record differs in is told without its words, with the scripts it imports."""

from importlib import import_module

import pages  # noqa: F401 - knows where the scripts lie
import pytest

same_code = import_module("same_code")

OLD = '''"""Words."""


def kept():
    """Say one thing."""
    return 1


def moved():
    return 2
'''
BLOBS = {"old": OLD, "words": OLD.replace("one thing", "another"), "new": OLD.replace("2", "3")}
BLOBS["more"] = f"{OLD}\n\ndef added():\n    return 4\n"


@pytest.mark.parametrize(
    ("blob", "names"), [("old", ()), ("words", ()), ("new", ("moved",)), ("more", ("added",))]
)
def test_words_are_no_difference_between_the_codes_of_records(monkeypatch, blob, names):
    monkeypatch.setattr(same_code, "git", lambda *words: BLOBS[words[-1]])
    same_code.parts.cache_clear()
    same_code.differing.cache_clear()
    assert same_code.differing("old", blob) == names


def test_scripts_that_a_script_imports_belong_to_its_code(monkeypatch):
    sources = {"benchmarks/a.py": "import b\nimport os", "experiments/b.py": "from a import d"}
    monkeypatch.setattr(same_code, "files", lambda _: {path: path for path in sources})
    monkeypatch.setattr(same_code, "git", lambda *words: sources[words[-1]])
    same_code.imported.cache_clear()
    assert same_code.imported("benchmarks/a.py") == sources.keys()


def test_a_record_differs_in_the_package_and_in_its_script(monkeypatch):
    script, commits = "benchmarks/a.py", {"HEAD": "new", "then": "old", "now": "new"}
    trees = {
        commit: {"src/part.py": blob, script: "old", "benchmarks/other.py": blob}
        for commit, blob in commits.items()
    }
    monkeypatch.setattr(same_code, "files", trees.__getitem__)
    monkeypatch.setattr(same_code, "git", lambda *words: BLOBS[words[-1]])
    for cached in (same_code.parts, same_code.differing, same_code.imported):
        cached.cache_clear()
    assert same_code.differences("then", script) == "src/part.py: moved"
    assert same_code.differences("now", script) == ""
