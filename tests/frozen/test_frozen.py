"""Numbers do not change by accident: every case has the values of the file in ``expected``.

After a change by design, ``python -m tests.frozen.write CASE ...`` writes the new ones; the commit lists what changed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.frozen.cases import COMMANDS, words
from tests.frozen.values import differences, values

EXPECTED = Path(__file__).parent / "expected"
EXACT, BY_MODEL = 1e-12, 1e-4
"""Largest difference: of arithmetic, and of a model on another processor."""


@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_unchanged(name, cli):
    expected = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    tolerance = BY_MODEL if "--measure nli" in COMMANDS[name] else EXACT
    found_differences = differences(expected, values(cli(*words(COMMANDS[name]))), tolerance)
    assert not found_differences, f"{len(found_differences)} values changed:\n" + "\n".join(found_differences[:20])
