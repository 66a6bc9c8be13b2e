"""How Sphinx builds the site: `make docs`. Pages are those of the repository, where they lie."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs/_ext"), str(ROOT / "docs")]


from figures import returned  # noqa: E402

import atomstream  # noqa: E402

project = "atomstream"
author = copyright = "The atomstream developers"
version = release = atomstream.__version__

# The folder of sources is the repository, so that links between pages hold here and there alike.
root_doc = "docs/index"
include_patterns = [
    *("docs/**", "experiments/*.md", "benchmarks/RESULTS.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("CODE_OF_CONDUCT.md",),
]
exclude_patterns = ["docs/_*", "docs/**/*.py", "docs/gallery/*.ipynb", "docs/pictures"]
extensions = [
    *("sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "numpydoc"),
    *("myst_parser", "sphinx_design", "sphinx_click", "sphinx_gallery.gen_gallery"),
    *("mathml", "notebooks", "pages", "public_names"),
]
suppress_warnings = ["config.cache"]  # a function among the settings of the gallery
templates_path = [str(ROOT / "docs/_templates")]

myst_heading_anchors = 4
smartquotes = False  # a prime is a transpose
myst_enable_extensions = ["colon_fence", "attrs_inline", "attrs_block"]

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples/gallery",
    "gallery_dirs": "docs/gallery",
    "backreferences_dir": "docs/gallery/backreferences",
    "doc_module": ("atomstream",),
    "reference_url": {"atomstream": None},
    "within_subsection_order": "themes.ByTheme",
    "filename_pattern": r"plot_",
    "image_scrapers": (returned, "matplotlib"),
    "ignore_repr_types": r".*matplotlib.*",
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "reset_modules": (),
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "atomstream"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_additional_pages = {
    "index": "first.html"
}  # the first page of the folder leads to the home page
html_theme_options = {
    "logo": {"text": "atomstream"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "use_edit_page_button": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"docs/index": []}
