"""Faults put into the sources, and the bounds on what two fields do together."""

CASES = {
    "test_the_tutorial_on_gene_programs_finds_the_known_kinds_of_blood_cells": [
        (
            "return islice(batches, n_batches), known",
            "return islice((X[:, ::-1] for X in batches), n_batches), known",
        )
    ],
}
