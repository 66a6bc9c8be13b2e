"""What a served model of topics returns."""

import pandas as pd
import pytest
from fields.text.cases.zoo import DOCUMENTS
from numpy.testing import assert_array_equal
from served import fitted, served

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_topics_serve_shares(tmp_path):
    topics = fitted("topics")
    shares = served(topics, tmp_path).predict(pd.DataFrame({"text": DOCUMENTS}))
    assert_array_equal(shares, topics.topic_shares(DOCUMENTS))
