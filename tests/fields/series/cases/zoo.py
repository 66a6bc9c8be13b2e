"""A small model of series, and a table that it learns from."""

from cases import rows

from atomstream import SeriesDictionary

CASES = {
    "series": (
        SeriesDictionary(2, 3, n_init=12, n_init_batches=2, random_state=0),
        rows,
        lambda model, table: model.reconstruct(table),
    ),
}
