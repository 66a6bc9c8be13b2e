"""Tasks that callbacks are told of by a model of topics."""

import zoo
from followed import followed

from atomstream.fields.text.model import TopicModel


def test_topics_settle_between_setup_and_teardown():
    model, recorder, _ = followed(TopicModel(2, vectorizer="counts", random_state=0))
    model.fit(zoo.ZOO["topics"][1]())
    (_, passes), (most, n_rounds) = recorder.check()
    assert (passes, most) == (10, None)
    assert n_rounds > 1
    assert "_callback_fit_ctx" not in vars(model.learner_)
