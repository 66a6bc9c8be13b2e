"""The index of decisions: a sentence on each, from the line under its title.

python docs/decisions.py
"""

import re
from pathlib import Path

DOCS = Path(__file__).parent
FORM = re.compile(r"(?:---\n.*?---\n\n)?# (\d{3}):? (.+)\n\n> (.+)\n", re.DOTALL)
HEAD = """# Decisions

Why things are as they are. A new decision is half a page in this folder, with one sentence under
its title; those that became long lie with the notes of the laboratory. This page is written by
`python docs/decisions.py`.

| decision | in a sentence |
|---|---|
"""


def page():
    """Return the index."""
    paths = [*DOCS.glob("decisions/[0-9]*.md"), *DOCS.glob("lab/[0-9]*.md")]
    lines = []
    for path in sorted(paths, key=lambda path: path.name):
        head = path.read_text(encoding="utf-8").split("\n", 8)
        number, title, sentence = FORM.match("\n".join(head)).groups()
        link = path.name if path.parent.name == "decisions" else f"../lab/{path.name}"
        lines.append(f"| [{number} {title}]({link}) | {sentence.partition(chr(10))[0]} |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (DOCS / "decisions/index.md").write_text(page(), encoding="utf-8")
