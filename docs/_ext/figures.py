"""The figures that the plots of the library return; pyplot does not know of them."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def returned(block: object, given: dict, settings: dict) -> str:
    """Save the figures that a block has made and that pyplot will not show; show them."""
    names = given["example_globals"]
    shown = names.setdefault("__shown__", [])
    managed = [plt.figure(number) for number in plt.get_fignums()]
    new = [it for it in names.values() if isinstance(it, Figure) and it not in shown]
    shown += new
    paths = []
    for figure in {id(it): it for it in new if it not in managed}.values():
        paths.append(next(given["image_path_iterator"]))
        figure.savefig(paths[-1], dpi=100, bbox_inches="tight")
    return figure_rst(paths, settings["src_dir"])
