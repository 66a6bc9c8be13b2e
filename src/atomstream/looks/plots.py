"""Plots of models; each ``NAME_data`` returns the arrays that ``NAME`` draws."""

from collections.abc import Callable
from functools import cache, wraps
from inspect import isfunction, signature
from typing import Any

import lazy_loader

from atomstream.base.declared import with_names

# The modules that the table names lie beside this one.
_loaded, __dir__, __all__ = with_names(
    "atomstream.looks.plots", lazy_loader.attach_stub("atomstream.looks", __file__)
)

# What a plot reads of the model that it draws, and which models have that; plots of fields say it
# themselves (`atomstream.looks.canvas.say_reads`).
ATOMS = "importance_", "a model with importance_"
READS = {
    "triples": ("inverse_transform", "a model of rows"),
}


@cache
def __getattr__(name: str) -> Any:
    """Return a plot that says what it draws where it is given another model."""
    found = _loaded(name)
    return _for_models(found) if isfunction(found) else found


def _for_models(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plot that refuses models that it cannot draw."""
    name, first = draw.__name__, next(iter(signature(draw).parameters))
    attribute, kind = getattr(draw, "reads", READS.get(name.removesuffix("_data"), ATOMS))

    @wraps(draw)
    def drawn(*args: Any, **options: Any) -> Any:
        """Draw, once it is known that the first argument can be drawn."""
        given = args[0] if args else options.get(first)
        is_model = hasattr(given, "get_params")
        if is_model:
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(given)
        # Without an argument Python names what is missing.
        if is_model if first != "model" else given is not None and not hasattr(given, attribute):
            wanted, got = kind if first == "model" else first, type(given).__name__
            other = "; model.plot() draws its atoms" if hasattr(given, "plot") else ""
            raise TypeError(f"plots.{name} draws {wanted}, got {got}{other}.")
        return draw(*args, **options)

    return drawn
