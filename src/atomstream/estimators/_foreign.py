"""Names of scikit-learn, and of before: a sentence for each says what to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Self

from atomstream.base.parameters import Parameter
from atomstream.estimators._parameters import constraints
from atomstream.estimators.registry import ROLES, changed_part

_PENALTIES = {"alpha": "alpha (l1 on the codes)", "ridge": "ridge (squared l2 on the codes)"}
_PASSES = {
    "n_epochs": "n_epochs (passes over the data)",
    "n_batches": "n_batches",
    "n_patches": "n_patches",
    "max_time": "max_time (seconds)",
}
_CODER = {"coder": "coder (the default, 'auto', codes to the minimum)"}
# What stands for a parameter of scikit-learn, by the names of ours: those that a model has count.
PARAMETERS: dict[str, dict[str, str]] = {
    "beta_loss": {"loss": "loss ('squared', 'kl', 'is' or, for a number, 'beta:1.5')"},
    "alpha_W": _PENALTIES,
    "alpha_H": {"atoms": "atoms, the set that bounds the atoms (no penalty does)"},
    "l1_ratio": _PENALTIES,
    "max_iter": _PASSES,
    "n_iter": _PASSES,
    "solver": {
        "coder": "coder ('auto', 'multiplicative', ...)",
        "updater": "updater ('auto', ...)",
    },
    "forget_factor": {"schedule": "schedule ('power', 'constant', ...)"},
    "fit_algorithm": _CODER,
    "transform_algorithm": _CODER,
    "transform_alpha": {"alpha": "alpha, which learning and transform share"},
    "transform_n_nonzero_coefs": {"codes": "codes=atomstream.penalties.TopK(k)"},
    "positive_code": {"codes": "codes='nonnegative'", "nonnegative": "nonnegative"},
    "positive_dict": {"atoms": "atoms='nonnegative_ball'", "nonnegative": "nonnegative"},
    "dict_init": {"init": "init"},
}
# Names of before, by those of now.
RENAMED = {"method": "updater"}
# Parameters of before that are now those of a part.
MOVED = {
    "zeros": ("loss", "losses.ItakuraSaito(zeros=...)"),
    "tol": ("coder", "coders.Auto(tol=...)"),
    "radius": ("updater", "updates.LoadingSweep(radius=...)"),
    "n_sweeps": ("updater", "updates.LoadingSweep(n_sweeps=...)"),
}
STARTS = ("nndsvd", "nndsvda", "nndsvdar", "custom")  # values of its parameter init


class ForeignNames:
    """An estimator that answers names of scikit-learn with its own, where it would refuse them."""

    PARAMETERS: ClassVar[dict[str, Parameter]] = {}
    _parameter_constraints: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **known: Any) -> None:
        super().__init_subclass__(**known)
        cls._parameter_constraints = constraints(cls.PARAMETERS)  # what scikit-learn reads
        if "__init__" in vars(cls):
            cls.__init__ = _answering(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names, as scikit-learn does.

        Parameters
        ----------
        **params
            New values; those of a nested model as ``model__alpha``, and those of a part as
            ``loss__zeros``. A part given by name is then the part that the name stands for.

        Raises
        ------
        ValueError
            For names that the model or its part does not have; it stays as it was.
        """
        before = self.get_params(deep=False)  # type: ignore[attr-defined]
        roles = ROLES.keys() & self.PARAMETERS.keys()
        inner = {name: name.partition("__") for name in params}
        inner = {name: at for name, at in inner.items() if at[1] and at[0] in roles}
        own = {name: value for name, value in params.items() if name not in inner}
        try:
            super().set_params(**own)  # type: ignore[misc]
            for name, (role, _, field) in inner.items():
                setattr(self, role, self._changed(role, {field: params[name]}))
        except ValueError:
            vars(self).update(before)
            if sentence := _answer(type(self), params):
                raise ValueError(sentence) from None
            raise
        return self

    def _changed(self, role: str, values: dict[str, Any]) -> Any:
        """Return a part with some parameters changed; a name gives way to what it stands for."""
        part = getattr(self, role)
        if role == "updater" and isinstance(part, str) and part == "auto":
            part = self._make_algorithm().updater  # type: ignore[attr-defined]
        return changed_part(role, part, values)

    def _validate_params(self) -> None:
        try:
            super()._validate_params()  # type: ignore[misc]
        except ValueError:
            init = getattr(self, "init", None)
            if isinstance(init, str) and init in STARTS:
                raise ValueError(self._answer_to_start(init)) from None
            raise

    def _answer_to_start(self, init: str) -> str:
        """Return what to write for a value of ``init``."""
        kinds = self.PARAMETERS["init"].kinds
        starts = [name for kind in kinds for name in kind.names if name != "auto"]
        write = " or ".join(f"init={name!r}" for name in starts)
        if init == "custom" or not starts:
            write = "init=..., the atoms themselves"
        elif "svd" in starts:
            write = "init='svd'"
        return f"init={init!r} is a name of scikit-learn: write {write}."


def _answering(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that names our parameter where it is given one of scikit-learn's."""

    @wraps(init)  # scikit-learn reads its signature
    def answering(self: object, *values: Any, **named: Any) -> None:
        """Construct; a name of others gets the sentence that says what to write."""
        try:
            init(self, *values, **named)
        except TypeError:
            if sentence := _answer(type(self), named):
                raise TypeError(sentence) from None
            raise

    return answering


def _answer(kind: type, given: Iterable[str]) -> str:
    """Return what to write for names that a model does not have; nothing where none is known."""
    own, sentences = signature(kind).parameters, []
    for name in given:
        if RENAMED.get(name) in own:
            sentences.append(f"{name} is called {RENAMED[name]} now.")
        role, write = MOVED.get(name, ("", ""))
        if role in own and name not in own:
            sentences.append(
                f"{name} is a parameter of the {role} now: write {role}=atomstream.{write}, or "
                f"set_params({role}__{name}=...)."
            )
        if name in own or name not in PARAMETERS:
            continue
        ours = [words for parameter, words in PARAMETERS[name].items() if parameter in own]
        answer = f"write {' or '.join(ours)}" if ours else "nothing stands for it here"
        sentences.append(
            f"{kind.__name__} has no parameter {name!r}, a name of scikit-learn: {answer}."
        )
    return " ".join(sentences)
