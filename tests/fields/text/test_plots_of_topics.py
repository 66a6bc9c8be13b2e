"""Plots of topics do not draw other models, and say what does."""

import pytest
from drawn import of

from atomstream import plots


@pytest.mark.filterwarnings("ignore")
def test_the_sentences():
    told = r"^plots.topics draws a TopicModel, got NetworkDictionary; model.plot\(\) draws its"
    with pytest.raises(TypeError, match=told):
        plots.topics(of("networks"))
