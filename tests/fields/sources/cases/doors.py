"""Calls of what takes tables of species with uncertainties."""

import numpy as np
from given import (
    ATOMS,
    CLEAN_ERRORS,
    CODES,
    ERRORS,
    HOURS,
    ROW,
    SPECIES,
    TABLE,
    WEIGHTS,
    WHOLE,
    framed,
)

from atomstream import find_sources, sources
from atomstream.looks import plots


def species(values=WHOLE, uncertainties=CLEAN_ERRORS, **known):
    table = sources.SpeciesTable(values, uncertainties, SPECIES, **known)
    return np.concatenate([table.values, table.uncertainties], axis=1)


def read_species(values, uncertainties):
    return sources.read(framed(values), framed(uncertainties)).values


CASES = {
    "fields.sources.SpeciesTable(values)": (TABLE, species),
    "fields.sources.SpeciesTable(uncertainties)": (ERRORS, lambda X: species(WHOLE, X)),
    "fields.sources.SpeciesTable(total)": (
        WEIGHTS,
        lambda X: sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES, total=X).total,
    ),
    "fields.sources.SpeciesTable(limits)": (ROW, lambda X: species(limits=X)),
    "fields.sources.SpeciesTable(dates)": (
        WEIGHTS + np.arange(14),
        lambda X: species(dates=X),
    ),
    "fields.sources.read(concentrations)": (TABLE, lambda X: read_species(X, CLEAN_ERRORS)),
    "fields.sources.read(uncertainties)": (ERRORS, lambda X: read_species(WHOLE, X)),
    "fields.sources.per_cent(profiles)": (ATOMS, sources.per_cent),
    "fields.sources.mapped_to(contributions)": (CODES, lambda X: sources.mapped_to(X, WHOLE)),
    "fields.sources.mapped_to(others)": (CODES, lambda X: sources.mapped_to(WHOLE, X)),
    "find_sources(anchors)": (
        ATOMS[:1],
        lambda X: find_sources(
            sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES),
            2,
            anchors=X,
            n_starts=1,
            random_state=0,
        ),
    ),
    "looks.plots.factor_cycles_data(contributions)": (
        CODES,
        lambda X: plots.factor_cycles_data(X, HOURS)[0][1],
    ),
}
assert len(CASES) == 12
