"""A run of texts that a signal stops."""

import pytest
from fields.text.cases.stopped import prepare

COMMAND = "text topics docs.txt --topics 2 --batch-size 5"
CASES = {"text": (COMMAND, "epochs", "SIGTERM", prepare, [pytest.mark.long])}
