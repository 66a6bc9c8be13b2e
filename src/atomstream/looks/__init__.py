"""How models are looked at: one file a model, with its table, pictures, words and report."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules={"plots", "report"},
    submod_attrs={
        "look": ["Look", "look_of", "register_look"],
        "record": ["Record"],
        "report": ["Section"],
        "table": ["Table"],
    },
)
