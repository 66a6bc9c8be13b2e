"""The figures that the plots of the library return; pyplot does not know of them."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def returned(block: object, given: dict, settings: dict) -> str:
    """Save the figure that the last expression of a block returned, and show it."""
    names = given["example_globals"]
    figure = names.get("___")
    if not isinstance(figure, Figure) or figure is names.get("__shown__"):
        return ""
    names["__shown__"] = figure
    path = next(given["image_path_iterator"])
    figure.savefig(path, dpi=100, bbox_inches="tight")
    return figure_rst([path], settings["src_dir"])
