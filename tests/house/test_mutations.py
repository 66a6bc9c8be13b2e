"""The table of faults fits the sources and the tests; `make test-mutations` puts them in."""

import pytest
from mutations import MUTATIONS, holders, module_of


@pytest.mark.parametrize(("test", "text", "instead"), MUTATIONS)
def test_a_fault_has_one_place_and_a_test_that_bounds_what_is_learned(test, text, instead):
    assert len(holders(text)) == 1, f"mend the table of faults, tests/mutations.py: {text!r}"
    assert text != instead
    module, name = module_of(test).read_text(encoding="utf-8"), test.partition("[")[0]
    assert "room" in module.partition(f"\ndef {name}(")[2].partition(":")[0]
