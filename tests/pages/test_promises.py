"""The page of promises lists what of the contract of scikit-learn models do not keep."""

import re
from pathlib import Path

from cases import of_fields

CHECKED = of_fields("checked")
FAILING = {type(models[0]): failing for models, failing in CHECKED.values() if failing}


def test_the_page_of_promises_lists_what_is_expected_to_fail():
    page = (Path(__file__).parents[2] / "docs/promises.md").read_text(encoding="utf-8")
    listed = {}
    for model, checks, reason in re.findall(r"^\| `(\w+)` \| (.*check_.*) \| (.*) \|$", page, re.M):
        listed.setdefault(model, {}).update(
            dict.fromkeys(re.findall(r"`(check_\w+)`", checks), reason)
        )
    assert listed == {model.__name__: failing for model, failing in FAILING.items()}
