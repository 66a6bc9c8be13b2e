"""What every model is: parameters declared once, saved, drawn, and names of others answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from html import escape
from inspect import signature
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from sklearn.utils import InputTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Choice, told
from atomstream.base.parameters import Parameter
from atomstream.base.saved_fields import Field, check_fields, field_names
from atomstream.estimators._parameters import completed, constraints
from atomstream.estimators._sklearn import BaseEstimator
from atomstream.estimators.registry import ROLES, changed_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    "ngram_range": {"ngrams": "ngrams=2 for runs of up to two words"},
    "max_features": {"n_features": "n_features"},
}
STARTS = ("nndsvd", "nndsvda", "nndsvdar", "custom")  # values of its parameter init

Model = TypeVar("Model", bound="Estimator")


def _has_atoms(model: Any) -> bool:
    """Return whether a model has atoms, which can be drawn."""
    return hasattr(type(model), "components_")


class Estimator(BaseEstimator):
    """A model with declared parameters, which can be saved and, if it has atoms, drawn.

    It answers names of scikit-learn with its own, where it would refuse them.

    Attributes
    ----------
    PARAMETERS : dict of str to Parameter
        What each parameter is for, and what it may be; a class names those that no others share.
    LEARNED : tuple of Field or str
        Declared attributes made by learning, in the order of the file.
    """

    PARAMETERS: ClassVar[dict[str, Parameter]] = {}
    ACCEPTS: ClassVar[tuple[str, ...]] = ()  # kinds of input, by the names of `InputTags`
    LEARNED: ClassVar[tuple[Field | str, ...]] = ()
    _parameter_constraints: ClassVar[dict[str, Any]]
    _DECLARED: ClassVar[tuple[Any, ...]] = ()  # fields of the data class, see `estimator`

    def __init_subclass__(cls, **known: Any) -> None:
        super().__init_subclass__(**known)
        cls._complete()
        if "__init__" in vars(cls):
            cls.__init__ = _answering(cls.__init__)  # type: ignore[method-assign]

    @classmethod
    def _complete(cls) -> None:
        """Add the shared ones among the parameters of the constructor."""
        cls.PARAMETERS = completed(cls.PARAMETERS, [known.name for known in cls._DECLARED])
        cls._parameter_constraints = constraints(cls.PARAMETERS)  # what scikit-learn reads

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
        before = self.get_params(deep=False)
        roles = ROLES.keys() & self.PARAMETERS.keys()
        inner = {name: name.partition("__") for name in params}
        inner = {name: at for name, at in inner.items() if at[1] and at[0] in roles}
        own = {name: value for name, value in params.items() if name not in inner}
        try:
            super().set_params(**own)
            for name, (role, _, field) in inner.items():
                setattr(self, role, self._changed(role, {field: params[name]}))
        except ValueError:
            self.__dict__.update(before)
            if sentence := _answer(type(self), params):
                raise ValueError(sentence) from None
            raise
        return self

    def _changed(self, role: str, values: dict[str, Any]) -> Any:
        """Return a part with some parameters changed; a name gives way to what it stands for."""
        model: Any = self
        part = getattr(model, role)
        if role in ("updater", "codes", "atoms") and isinstance(part, str) and part == "auto":
            algorithm = model._make_algorithm()
            part = algorithm.updater
            if role != "updater":
                codes, atoms = model._auto_sets(part, algorithm.objective.loss)
                part = codes if role == "codes" else atoms
        return changed_part(role, part, values)

    def _validate_params(self) -> None:
        try:
            super()._validate_params()
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

    def check(self) -> None:
        """Refuse settings out of range."""
        self._validate_params()

    @property
    def _refuses_negative(self) -> bool:
        """Whether data must not be negative."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.ACCEPTS:
            known = {"two_d_array": False} | dict.fromkeys(self.ACCEPTS, True)
            tags.input_tags = InputTags(**known)
        tags.input_tags.positive_only = self._refuses_negative
        return tags

    # -- what was chosen

    @property
    def chosen_(self) -> Mapping[str, Choice]:
        """What settings became that were left to the model, each with the reason; read-only.

        By the names of the settings: of each the ``value``, and ``why`` it is that. The logger
        ``atomstream.base.chosen`` writes the same, as one record at the start of learning.
        """
        check_is_fitted(self)
        return MappingProxyType(self._choices())

    def _choices(self) -> dict[str, Choice]:
        """Return what settings became, as far as it is known; a model adds its own."""
        return {}

    # -- files

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as they are written to a file."""
        return dict(self.get_params(deep=False))

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

    def _refuse_change(self, **learned: Any) -> None:
        """Refuse parameters that are others than those that the model has learned with."""
        for name, value in learned.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r} and the model has learned with "
                    f"{name}={value!r}; call fit to start over."
                )

    # -- pictures

    @available_if(_has_atoms)
    def plot(self, **options: Any) -> Figure:
        """Draw the atoms in the way that suits the model.

        Parameters
        ----------
        **options
            As for the plot that is chosen, of those in `atomstream.plots`; for models of rows also
            ``shape``, the size of the patches that atoms are drawn as.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each atom, the most important first.
        """
        from atomstream.looks import drawings
        from atomstream.looks.look import look_of

        check_is_fitted(self)
        if "shape" in options:
            return drawings.atoms(self, **options)
        return look_of(self).plot(self, **options)

    def _thumbnails(self) -> str:
        from atomstream.looks.look import look_of

        if not (_has_atoms(self) and self.__sklearn_is_fitted__()):
            return ""
        return look_of(self).thumbnails(self)

    def _chosen_html(self) -> str:
        line = told(self.chosen_) if self.__sklearn_is_fitted__() else ""
        return f"<p>Chosen: {escape(line)}</p>" if line else ""

    def _repr_html_inner(self) -> str:
        html: str = super()._repr_html_inner()
        return html + self._thumbnails() + self._chosen_html()

    def _repr_mimebundle_(self, **known: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**known)
        if "text/html" in bundle:
            bundle["text/html"] += self._thumbnails() + self._chosen_html()
        return bundle


@dataclass_transform(field_specifiers=(field,))
def estimator(kind: type[Model]) -> type[Model]:
    """Give a model the constructor that stores its annotated attributes with their defaults.

    Attributes with ``field(init=False)`` are made by learning, and what a class below has declared
    so is inherited. The constructor is that of a data class; the model is none to others: two
    models are equal only if they are one, and nothing may write them down field by field.
    """
    own = kind.__annotations__
    for known in kind._DECLARED:  # after its own, in their order, whether it has another default
        if known.name not in own:
            setattr(kind, known.name, known)
        own[known.name] = own.pop(known.name, known.type)
    made: Any = dataclass(repr=False, eq=False, match_args=False)(kind)
    made._DECLARED = fields(made)
    made._complete()
    del made.__dataclass_fields__
    made.__init__ = _answering(made.__init__)
    return made


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
        if name in own or name not in PARAMETERS:
            continue
        ours = [words for parameter, words in PARAMETERS[name].items() if parameter in own]
        answer = f"write {' or '.join(ours)}" if ours else "nothing stands for it here"
        sentences.append(
            f"{kind.__name__} has no parameter {name!r}, a name of scikit-learn: {answer}."
        )
    return " ".join(sentences)


def view(path: str, doc: str) -> property:
    """Return a property of a fitted model that shows an attribute of one of its parts.

    Parameters
    ----------
    path : str
        Where the attribute stands, as in "learner_.importance_".
    doc : str
    """
    get = attrgetter(path)

    def shown(model: BaseEstimator) -> Any:
        check_is_fitted(model)
        return get(model)

    return property(shown, doc=doc)
