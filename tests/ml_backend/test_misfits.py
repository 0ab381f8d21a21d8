"""If the measure does not fit the texts, every screen and every export has a warning, and no unfounded claim."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.review.headline import misfits_of
from tests.ml_backend.seeded_store import NUMBER, Seeded

MISFIT = "The texts are not English, and the measure knows no other language."
TASKS = {n: {"2": [f"Fieber {n}"], "3": [f"Fieber {n}"], "4": [f"Husten {n}"]} for n in range(1, 9)}


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    """A project with a measure that does not fit its texts."""
    return seed(TASKS)


def mark_unfit(seeded: Seeded) -> None:
    summary = seeded.row["summary"]
    fields = {
        name: {**field, "misfits": [MISFIT], "warnings": [MISFIT, *field["warnings"]]}
        for name, field in summary["controls"].items()
    }
    seeded.update(summary={**summary, "controls": fields}, summary_at=9e9)


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    """A project with German texts, scored by the bundled model."""
    with (Path(__file__).parents[1] / "meaning" / "measures" / "languages.tsv").open(
        encoding="utf-8", newline=""
    ) as file:
        texts = [row["text"] for row in csv.DictReader(file, delimiter="\t") if row["language"] == "de"][:24]
    seeded = Seeded(tmp_path_factory.mktemp("german"), measure="nli")
    seeded.update(required=2)
    seeded.put({n: {"2": [text], "3": [texts[n - 2]]} for n, text in enumerate(texts, start=1)})
    seeded.score(measure="nli")
    return seeded


def get(seeded: Seeded, path: str, **query: Any) -> Any:
    return seeded.as_person().get(path, query_string={"project": NUMBER, **query})


@pytest.mark.slow
def test_every_screen_and_export_carries_the_warning(seeded: Seeded) -> None:
    screens = (f"/report/{NUMBER}", f"/report/{NUMBER}/report.html")
    data = ("/api/report", f"/report/{NUMBER}/report.json")
    for path in (*screens, *data):
        assert MISFIT not in get(seeded, path).text, path
    assert get(seeded, "/api/panel", task=1).json["warnings"] == []
    mark_unfit(seeded)
    assert misfits_of(seeded.row) == [MISFIT]
    for path in (*screens, *data):
        assert MISFIT in get(seeded, path).text, path
    assert 'href="../audit/12" target="_blank" rel="noopener">Judge pairs</a>' in get(seeded, screens[0]).text
    assert get(seeded, "/api/panel", task=1).json["warnings"] == [MISFIT]


@pytest.mark.slow
def test_a_german_project_is_warned_of_everywhere(german: Seeded) -> None:
    screens = (f"/report/{NUMBER}", f"/report/{NUMBER}/report.html")
    data = ("/api/report", f"/report/{NUMBER}/report.json")
    tables = [f"/report/{NUMBER}/tasks.csv"]
    for path in (*screens, *data, *tables):
        text = get(german, path).text
        assert "look like German" in text and "--measure" not in text, path
    assert "look like German" in get(german, "/api/panel", task=1).json["warnings"][0]
