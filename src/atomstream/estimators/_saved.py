"""The attributes made by learning, handed to a file and taken from one."""

from __future__ import annotations

from typing import Any, ClassVar

from atomstream.base.fields import Field, check_fields, field_names
from atomstream.estimators._foreign import ForeignNames


class Saved(ForeignNames):
    """A model that can be saved; parameters are saved besides.

    Attributes
    ----------
    LEARNED : tuple of Field or str
        Declared attributes made by learning, in the order of the file.
    """

    LEARNED: ClassVar[tuple[Field | str, ...]] = ()

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as they are written to a file."""
        return dict(self.get_params(deep=False))  # type: ignore[attr-defined]

    def learned_attributes(self) -> dict[str, Any]:
        """Return the attributes of ``LEARNED``, as far as they are there."""
        return {name: vars(self)[name] for name in field_names(self.LEARNED) if name in vars(self)}

    def restore_learned(self, learned: dict[str, Any]) -> None:
        """Take what `learned_attributes` returned, read from a file.

        Parameters
        ----------
        learned : dict
            Attributes by their names.

        Raises
        ------
        ValueError, TypeError, AttributeError
            Where parts do not fit together: a file with a right digest may still have been made up.
        """
        known = {name: learned[name] for name in field_names(self.LEARNED) if name in learned}
        if learned:
            self._set_learned(known)
            self._validate_learned()

    def _set_learned(self, learned: dict[str, Any]) -> None:
        self.__dict__.update(learned)

    def _sizes(self) -> dict[str, int]:
        """Return what is known of the sizes of learned attributes, by the symbols of these."""
        return {}

    def _validate_learned(self) -> None:
        """Refuse learned parts that do not fit together."""
        check_fields(self, self.LEARNED, **self._sizes())
