"""Parts that are chosen, beside defaults: a default gives way, or one sentence names what to take.

OnlineDictionaryLearning(codes=TopK(5))                     # alpha="auto" is 0 here
OnlineDictionaryLearning(coder="multiplicative")            # codes="auto" are nonnegative here
"""

import inspect
import re
from functools import partial

import numpy as np
import pytest
from cases import of_fields
from given import POSITIVE as X
from numpy.testing import assert_array_equal
from strategies import LOSS_NAMES, LOSSES, PENALTIES, SCHEDULES

import atomstream
from atomstream import (
    BatchNMF,
    OnlineDictionaryLearning,
    OnlineNMF,
    coders,
    penalties,
    updates,
)
from atomstream.estimators.registry import CODERS, SETS, UPDATERS
from atomstream.estimators.registry import SCHEDULES as SCHEDULE_NAMES
from atomstream.exceptions import DataWarning, IncompatiblePartsError
from atomstream.loop.online import WITH_ATTRIBUTE
from atomstream.penalties import Box, Free, Nonnegative, Simplex, TopK

SETS_OF_CODES = [*SETS, *PENALTIES, TopK(2), TopK(2, sign="nonnegative")]
CHOICES = {
    "codes": SETS_OF_CODES,
    "atoms": SETS_OF_CODES,
    "coder": [*CODERS, coders.Trimming(), coders.Multiplicative(), coders.MatchingPursuit()],
    "updater": [*UPDATERS, "auto", updates.BlockCoordinate(), updates.Majorise()],
    "loss": [*LOSS_NAMES, *LOSSES],
    "schedule": [*SCHEDULE_NAMES, *SCHEDULES],
    "scale": ["none", "std", "max", "log1p", "tfidf"],
    "missing": [True],
}
MODELS = {
    BatchNMF: (partial(BatchNMF, 3, n_epochs=1), X),
    OnlineDictionaryLearning: (partial(OnlineDictionaryLearning, 3, n_epochs=1), X),
    OnlineNMF: (partial(OnlineNMF, 3, n_epochs=1), X),
    **of_fields("chosen_parts"),
}
# Those whose alpha is one number by default and another beside other parts.
OF_ALPHA = [
    m
    for m in MODELS
    if getattr(inspect.signature(m).parameters.get("alpha"), "default", 0) == "auto"
]
CASES = [
    pytest.param(model, role, choice, id=f"{model.__name__}-{role}-{choice!r:.40}")
    for model in MODELS
    for role, choices in CHOICES.items()
    if role in inspect.signature(model).parameters
    for choice in choices
]


def fit(model, **given):
    make, *data = MODELS[model]
    return make(**given, random_state=0).fit(*data)


def taken(sentence):
    """Return the argument that a sentence offers, as (name, value); None where it offers none."""
    found = re.search(r"choose (\w+)=(\S+?)( of OnlineNMF)? or another", sentence)
    if found is None:
        return None
    name, value, other = found.groups()
    return name, eval(value, {"atomstream": atomstream}), OnlineNMF if other else None


def test_all_models_with_parts_are_tried():
    named = [getattr(atomstream, name) for name in atomstream.__all__]
    models = [each for each in named if inspect.isclass(each) and hasattr(each, "get_params")]
    roles = {"codes", "atoms", "coder", "updater", "loss"}
    assert {each for each in models if roles & {*inspect.signature(each).parameters}} == {*MODELS}
    assert len(CASES) > 200


@pytest.mark.parametrize(("model", "role", "choice"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_a_chosen_part_fits_beside_all_defaults_or_is_answered(model, role, choice):
    try:
        fit(model, **{role: choice})
    except (TypeError, ValueError) as error:
        sentence = str(error)
    else:
        return
    others, offer = {*inspect.signature(model).parameters} - {role}, taken(sentence)
    # Without the parts that it quotes.
    plain = re.sub(r"\(.*\)", "", sentence)
    written = {name for name in others if re.search(rf"\b{name}=", plain)}
    # No argument is blamed that nobody has written.
    assert written <= {offer[0] if offer else None}, sentence
    assert re.search("choose|use |give |must be|call |has a metric|in sets only|more", sentence)
    if offer:
        name, value, other = offer
        if other is OnlineNMF or (model is OnlineNMF and isinstance(value, TopK)):
            value = TopK(5, sign="nonnegative") if isinstance(value, TopK) else value
        # What the sentence names is right beside the part that was chosen, or in its place.
        fit(other or model, **{role: choice, name: value})


@pytest.mark.parametrize("model", OF_ALPHA)
def test_an_alpha_that_nobody_wrote_is_none_where_the_set_has_a_penalty(model):
    own = Nonnegative(l1=0.3, l2=0.2)
    wanted = fit(model, codes=own, alpha=0.0)
    assert_array_equal(fit(model, codes=own).components_, wanted.components_)
    assert fit(model, codes=own).algorithm_.objective.codes == own
    assert fit(model).algorithm_.objective.codes == Free(l1=0.1)
    assert fit(model, codes="simplex").algorithm_.objective.codes == Simplex(l1=0.1)
    assert fit(model, codes=Box(0, 2)).algorithm_.objective.codes == Box(0, 2, l1=0.1)
    assert_array_equal(fit(model, alpha=0.1).components_, fit(model).components_)
    with pytest.raises(ValueError, match="both set the penalty"):
        fit(model, codes=own, alpha=0.1)
    with pytest.raises(ValueError, match=r"alpha.* must be a number of at least 0, auto|auto"):
        fit(model, alpha="much")


def test_codes_of_few_atoms_need_no_alpha():
    model = fit(OnlineDictionaryLearning, codes=TopK(2))
    assert (model.transform(X) != 0).sum(axis=1).max() == 2
    wanted = fit(OnlineDictionaryLearning, codes=TopK(2), alpha=0)
    assert_array_equal(model.components_, wanted.components_)
    with pytest.raises(ValueError, match=r"alpha=0.2 needs a part with a field 'l1'"):
        fit(OnlineDictionaryLearning, codes=TopK(2), alpha=0.2)


def test_sets_that_nobody_chose_give_way_to_the_coder_and_the_updater():
    plain = fit(OnlineDictionaryLearning).algorithm_.objective
    assert (plain.codes, plain.atoms) == (Free(l1=0.1), penalties.UnitBall())
    coded = fit(OnlineDictionaryLearning, coder="multiplicative")
    assert coded.algorithm_.objective.codes == Nonnegative(l1=0.1)
    assert coded.algorithm_.objective.atoms == penalties.NonnegativeBall()
    assert coded.transform(X).min() >= 0
    majorised = fit(OnlineDictionaryLearning, updater="majorise").algorithm_.objective
    assert (majorised.codes.nonnegative, majorised.atoms.nonnegative) == (True, True)
    with pytest.raises(
        IncompatiblePartsError, match=r"nonnegative, got Free.* codes='nonnegative'"
    ):
        fit(OnlineDictionaryLearning, updater="majorise", codes="free")


def test_data_of_both_signs_are_told_where_chosen_parts_made_the_sets_nonnegative():
    signed = np.random.default_rng(0).standard_normal((60, 6))
    for given in ({"coder": "multiplicative"}, {"updater": "majorise"}):
        told = r"Negative entries have .* for data of both signs choose coder='auto' and updater="
        with pytest.warns(DataWarning, match=told):
            OnlineDictionaryLearning(3, n_epochs=1, random_state=0, **given).fit(signed)
    with pytest.raises(IncompatiblePartsError, match=r"choose atoms='nonnegative_ball' or another"):
        fit(
            OnlineDictionaryLearning,
            coder="multiplicative",
            codes="nonnegative",
            atoms="unit_ball",
        )


def test_an_updater_that_nobody_chose_gives_way_to_the_set_of_the_atoms():
    for model in (OnlineDictionaryLearning, OnlineNMF):
        chosen = fit(model, atoms="covering").algorithm_
        assert type(chosen.updater) is updates.SubgradientStep
        with pytest.raises(
            IncompatiblePartsError, match=r"rowwise, got Covering.*atoms='unit_ball'"
        ):
            fit(model, atoms="covering", updater=updates.BlockCoordinate())


def test_parameters_of_sets_that_nobody_chose_are_set_by_name():
    model = OnlineDictionaryLearning(3).set_params(codes__l2=0.5)
    assert model.codes == Free(l2=0.5)
    assert OnlineNMF(3).set_params(codes__l1=0.5).codes == Nonnegative(l1=0.5)


def test_every_need_of_a_part_names_what_has_it():
    parts = [getattr(folder, name) for folder in (coders, updates) for name in folder.__all__]
    needs = [getattr(part, "needs", {}) for part in parts]
    needs += [part.statistics.needs for part in parts if hasattr(part, "statistics")]
    wanted = {(role, name) for each in needs for role, names in each.items() for name in names}
    assert wanted - {("atoms", "sets")} <= {*WITH_ATTRIBUTE}  # sets are those of loadings alone
