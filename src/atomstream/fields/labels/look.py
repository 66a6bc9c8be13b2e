"""Dictionaries that predict labels: what each atom speaks for."""

import numpy as np

from atomstream.looks import Record, Table, report
from atomstream.looks.rows import RowsLook


class LabelsLook(RowsLook):
    """The look of dictionaries of rows that predict labels."""

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and what each atom speaks for."""
        model = record.model
        coefs = model.coef_ if len(model.coef_) > 1 else np.vstack([-model.coef_, model.coef_])
        names = getattr(model, "classes_", None)

        def speaks(atom: int) -> str:
            if names is None:
                return ", ".join(f"{value:+.2g}" for value in model.coef_[:, atom])
            return f"{names[coefs[:, atom].argmax()]}"

        return report.atoms_table(record, most, "speaks for", speaks)
