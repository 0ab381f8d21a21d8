"""The example notebook runs, and its stored outputs are what it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.notebooks import plain_text, run

NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.mark.slow
def test_notebook_outputs_match_its_code(root: Path) -> None:
    notebook = json.loads((root / "docs/examples/pandas.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, outputs in zip(cells, run(notebook), strict=True):
        stored, computed = plain_text(cell["outputs"]), plain_text(outputs)
        assert NUMBER.sub("#", computed).split() == NUMBER.sub("#", stored).split(), "".join(cell["source"])
        numbers = [float(number) for number in NUMBER.findall(stored)]
        # one processor rounds otherwise than another
        assert [float(number) for number in NUMBER.findall(computed)] == pytest.approx(numbers, abs=0.011)
