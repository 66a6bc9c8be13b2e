"""The engines of docs/how-to/ray-and-spark.md, where their libraries are installed."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from rounds import bits
from strange import ATOMS, Bad, Drawn

from atomstream import BadShardError, OnlineNMF
from atomstream.cluster import Rounds, Shards

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
FEW = Rounds(warmup=256, first=512, growth=1.0, batch=64)
HERE = Path(__file__).parents[1]
PAGE = HERE.parent / "docs/how-to/ray-and-spark.md"


def recipe(name):
    """Return what the page defines in the first block under a heading."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {name}\n")[2]
    found = {"__name__": "__main__"}  # what is defined there is sent by value
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], found)
    return found[name]


@pytest.fixture
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    paths = {"PYTHONPATH": f"{HERE}:{os.environ.get('PYTHONPATH', '')}"}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": paths})
    yield recipe("Ray")()
    ray.shutdown()


@pytest.fixture
def spark(monkeypatch):
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    options = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config(map=options)
    session = builder.getOrCreate()
    yield recipe("Spark")(session, at_once=2)
    session.stop()


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_the_engines_of_the_page_give_the_bits_of_this_process(name, request):
    engine = request.getfixturevalue(name)
    listed = Shards([Drawn(seed) for seed in range(4)])
    here = OnlineNMF(ATOMS, random_state=0).fit_stream(listed, slots=2, rounds=FEW)
    there = OnlineNMF(ATOMS, random_state=0)
    there.fit_stream(listed, slots=2, rounds=FEW, engine=engine)
    assert bits(there) == bits(here)
    bad = Shards([Drawn(0), Bad(9)])
    with pytest.raises(BadShardError, match=r"drawn\[9\]"):
        OnlineNMF(ATOMS).fit_stream(bad, slots=2, rounds=FEW, engine=engine)
