"""Run the notebooks of this folder, and store what they print and draw: ``make notebooks``.

``python docs/notebooks/run_notebooks.py [NAME ...]`` runs those that are named, by default all. One
whose metadata name a file of the shared data is passed over, with a reason, where it is missing.
"""

import base64
import io
import os
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
DATA = Path(os.environ.get("ATOMSTREAM_DATA", HERE.parents[2] / "shared" / "data"))
KEPT = ("alt", "needs")  # of the metadata: descriptions of pictures, and a file of data
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def kept(metadata: dict) -> dict:
    """Return the metadata that do not depend on the machine."""
    return {key: metadata[key] for key in KEPT if key in metadata}


def smaller(picture: str) -> str:
    """Return a PNG, in base64, in 64 colours: noise and scatter take a quarter of the bytes."""
    drawn, kept = Image.open(io.BytesIO(base64.b64decode(picture))), io.BytesIO()
    drawn.convert("RGB").quantize(64).save(kept, "PNG", optimize=True)
    return base64.b64encode(kept.getvalue()).decode("ascii")


def run(path: Path) -> None:
    """Run a notebook from its first cell to its last, and write it with what came out."""
    # Here: doctests import this file where nothing of Jupyter is installed.
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    needed = notebook.metadata.get("needs")
    if needed and not (DATA / needed).exists():
        print(f"{path.name}: passed over, for {needed} is not in {DATA}")
        return
    os.environ["ATOMSTREAM_DATA"] = str(DATA.resolve())
    place = {"metadata": {"path": str(HERE)}}
    settings = {"kernel_name": "python3", "timeout": 900}
    tidy = {"record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources=place, **settings, **tidy).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output.metadata = nbformat.from_dict({})
                output.data["image/png"] = smaller(output.data["image/png"])
        cell.metadata = nbformat.from_dict(kept(cell.metadata))
    notebook.metadata = nbformat.from_dict(kept(notebook.metadata) | {"kernelspec": KERNEL})
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    named = [HERE / f"{Path(name).stem}.ipynb" for name in sys.argv[1:]]
    for each in named or sorted(HERE.glob("*.ipynb")):
        run(each)
