"""The tutorials: notebooks that were run from the first cell to the last, and what they tell."""

import json
import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from shared import DATA
from test_docs import complaint
from test_spelling import american

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
PAGE = runpy.run_path(str(ROOT / "docs/_ext/notebooks.py"))["page"]
MOST_BYTES = 400_000
ABSOLUTE = re.compile(
    r"(?<![\w.:/-])/(?:home|root|work|tmp|usr|opt|var|mnt|Users|private)/|[A-Z]:\\"
)
SPAN = re.compile(r"`([^`\n]+)`")
# Numbers of the prose that a reader can check: with a decimal point, and not of a licence.
NUMBER = re.compile(r"(?<![\w.])(?<!BY )\d+\.\d+(?![\w%]|\.\d)")


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cells(notebook, kind):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def words(notebook, kind):
    """Return the sources of all cells of a kind."""
    return "\n\n".join("".join(cell["source"]) for cell in cells(notebook, kind))


def outputs(notebook):
    return [output for cell in cells(notebook, "code") for output in cell["outputs"]]


def printed(notebook):
    """Return the text beneath all cells."""
    texts = [
        output.get("data", {}).get("text/plain", output.get("text", ""))
        for output in outputs(notebook)
    ]
    return "\n".join("".join(text) for text in texts)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return read(path)


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


def test_a_notebook_was_run_from_its_first_cell_to_its_last(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) >= (4, 5)
    named = [cell["id"] for cell in notebook["cells"]]
    assert len({*named}) == len(named)
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"code", "markdown"}
    counts = [cell["execution_count"] for cell in cells(notebook, "code")]
    assert counts == list(range(1, len(counts) + 1))
    kinds = {output["output_type"] for output in outputs(notebook)}
    assert "error" not in kinds
    assert "stderr" not in {output.get("name") for output in outputs(notebook)}


def test_a_notebook_holds_what_it_printed_and_drew(path, notebook):
    assert path.stat().st_size < MOST_BYTES
    assert len(printed(notebook).split()) > 50
    for cell in cells(notebook, "code"):
        drawn = [output for output in cell["outputs"] if "image/png" in output.get("data", {})]
        assert len(cell["metadata"].get("alt", [])) == len(drawn), "describe each picture"
    assert sum("image/png" in output.get("data", {}) for output in outputs(notebook)) >= 3


def test_a_notebook_names_no_place_of_the_machine_that_ran_it(notebook):
    for output in outputs(notebook):
        output.get("data", {}).pop("image/png", None)
    assert ABSOLUTE.findall(json.dumps(notebook, ensure_ascii=False)) == []
    assert {*notebook["metadata"]} <= {"kernelspec", "needs"}


def test_places_of_a_machine_are_seen():
    assert ABSOLUTE.search('read("/home/somebody/cells.h5ad")')
    assert ABSOLUTE.search('File "/usr/lib/python3"')
    assert not ABSOLUTE.search("../../../shared/data and https://example.org/home/page")


def test_the_prose_has_names_that_exist_and_one_spelling(notebook):
    prose = words(notebook, "markdown")
    assert {span: why for span in SPAN.findall(prose) if (why := complaint(span))} == {}
    assert american(prose) == []


def test_numbers_of_the_prose_are_those_that_the_cells_print(notebook):
    there = printed(notebook) + words(notebook, "code")
    told = NUMBER.findall(words(notebook, "markdown"))
    assert told, "a tutorial says what came out"
    assert [number for number in told if number not in there] == []


def test_genes_of_the_prose_are_those_that_the_cells_print(notebook):
    told = re.findall(r"\*([A-Z][A-Z0-9-]+)\*", words(notebook, "markdown"))
    assert [gene for gene in told if not re.search(rf"\b{gene}\b", printed(notebook))] == []


def test_links_of_the_prose_lead_somewhere(path, notebook):
    for target in re.findall(r"\]\(([^)#:]+)\)", words(notebook, "markdown")):
        assert (path.parent / target).exists(), target


def test_the_menu_has_every_notebook():
    index = (ROOT / "docs/notebooks/index.md").read_text(encoding="utf-8")
    listed = re.search(r"^```\{toctree\}\n(.*?)^```", index, re.DOTALL | re.MULTILINE)[1]
    assert [line for line in listed.split() if line[0] != ":"] == [path.stem for path in NOTEBOOKS]
    assert "notebooks/index" in (ROOT / "docs/start.md").read_text(encoding="utf-8").split()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.weekly
def test_the_cells_of_a_notebook_run(path, notebook, tmp_path):
    """As a plain program: no cell needs Jupyter."""
    code = words(notebook, "code")
    needed = {found.split(".")[0] for found in re.findall(r"^(?:import|from) (\S+)", code, re.M)}
    missing = sorted(name for name in needed if find_spec(name) is None)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    data = notebook["metadata"].get("needs")
    if (
        data
        and not (DATA / data).exists()
        and (os.environ.get("CI") != "true" or str(DATA) == "none")
    ):
        pytest.skip(f"shared data missing: {data}")
    script = tmp_path / "notebook.py"
    script.write_text(code, encoding="utf-8")
    around = {**os.environ, "MPLBACKEND": "agg", "ATOMSTREAM_DATA": str(DATA)}
    command = [sys.executable, "-W", "error::UserWarning:atomstream", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=around, cwd=path.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- pages of the site


def cell(kind, source, **rest):
    return {"cell_type": kind, "source": source, "metadata": {}, "id": source[:3], **rest}


def test_a_notebook_becomes_a_page():
    text = {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]}
    value = {"output_type": "execute_result", "data": {"text/plain": ["3"]}}
    drawn = {"output_type": "display_data", "data": {"image/png": "aGk=\n", "text/plain": "<F>"}}
    code = cell("code", ["print(1)\n", "3"], outputs=[text, value, drawn])
    code["metadata"] = {"alt": ["A curve"]}
    page = PAGE(
        {"cells": [cell("markdown", "# Title"), cell("markdown", "Text."), code]}, "n.ipynb"
    )
    assert page.split("\n\n") == [
        "# Title",
        "{download}`The notebook of this page <n.ipynb>`",
        "Text.",
        "```python\nprint(1)\n3\n```",
        "```{code-block} none\n:class: output",
        "1\n2\n```",
        "```{code-block} none\n:class: output",
        "3\n```",
        "![A curve](data:image/png;base64,aGk=)\n",
    ]
