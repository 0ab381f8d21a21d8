"""Decisions calibrate the measure from the fiftieth on; the report shows by how much, and the panel that it is so."""

import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from seeded_store import NUMBER, Seeded

from ml_backend.demo import data
from ml_backend.review import calibration as calibration_of_project
from ml_backend.scoring.decided import verdicts
from ml_backend.settings import ProjectSettings
from softirr import measure
from softirr.measures.corrected import corrected

KEY = data.key()


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    made = Seeded(tmp_path)
    made.put()
    made.score()
    yield made
    made.services.store.close()


def decisions() -> list[tuple[str, str, bool]]:
    """Pairs of the demo's texts, by what they mean: as many that are the same as that are not."""
    every = [(a, b, KEY[a] == KEY[b]) for a, b in combinations(sorted(KEY), 2)]
    same = [one for one in every if one[2]]
    different = [one for one in every if not one[2]][:: len(every) // len(same)]
    return [one for pair in zip(same, different, strict=False) for one in pair]


def decide(seeded: Seeded, n: int, start: int = 0) -> None:
    for a, b, same in decisions()[start : start + n]:
        seeded.services.store.decide(seeded.project, a, b, same=same, reviewer="Rae")


def refit(seeded: Seeded, **settings: Any) -> bool:
    return calibration_of_project.refit(
        seeded.services.store, seeded.services.scorer, seeded.row, ProjectSettings(**{"measure": "indel", **settings})
    )


def current(seeded: Seeded, name: str = "indel") -> Any:
    return calibration_of_project.current(seeded.services.store, seeded.project, name)


def test_begins_with_the_fiftieth_decision(seeded: Seeded) -> None:
    decide(seeded, 49)
    assert not refit(seeded) and current(seeded) is None
    decide(seeded, 1, 49)
    assert refit(seeded) and current(seeded).n == 50
    assert len(seeded.services.store.unscored(seeded.project, 100)) == 7 and seeded.row["summary_stale"]


def test_is_the_sciences_own(seeded: Seeded) -> None:
    from softirr.measures.calibration import JudgedPairs, calibrate

    decide(seeded, 80)
    refit(seeded)
    said = verdicts(seeded.services.store.decisions(seeded.project))
    direct = calibrate(JudgedPairs(tuple(said), tuple(map(float, said.values()))), "indel")
    probabilities = np.linspace(0, 1, 11)
    assert current(seeded).apply(probabilities) == pytest.approx(direct.calibration.apply(probabilities), abs=1e-12)


def test_a_single_decision_more_scores_nothing_again(seeded: Seeded) -> None:
    decide(seeded, 60)
    refit(seeded)
    decide(seeded, 5, 60)
    assert not refit(seeded)
    decide(seeded, 1, 65)
    assert refit(seeded) and current(seeded).n == 66


def test_another_measure_has_its_own(seeded: Seeded) -> None:
    decide(seeded, 60)
    refit(seeded)
    assert current(seeded, "jaccard") is None
    assert refit(seeded, measure="jaccard") and current(seeded, "jaccard") is not None


def test_ends_when_decisions_are_taken_back(seeded: Seeded) -> None:
    decide(seeded, 50)
    refit(seeded)
    a, b, _ = decisions()[0]
    seeded.services.store.undecide(seeded.project, a, b)
    assert refit(seeded) and current(seeded) is None


def test_all_decided_alike_teaches_nothing_and_says_so(seeded: Seeded) -> None:
    for a, b, _ in decisions()[:50]:
        seeded.services.store.decide(seeded.project, a, b, same=True)
    assert not refit(seeded) and current(seeded) is None
    page = seeded.client.get(f"/report/{NUMBER}", query_string={"k": seeded.key("report")}).get_data(as_text=True)
    assert "calibrate the measure yet" in page


def test_scores_follow_and_decided_pairs_stay_as_decided(seeded: Seeded) -> None:
    decide(seeded, 60)
    refit(seeded)
    said = verdicts(seeded.services.store.decisions(seeded.project))
    made = corrected(measure("indel"), current(seeded), said)
    free = [("brand new text", "brand new texts"), ("one", "two"), ("same", "same")]
    raw = measure("indel").score(free)
    wanted = np.where([a == b for a, b in free], 1.0, current(seeded).apply(raw))
    assert made.score(free) == pytest.approx(wanted, abs=1e-9)
    assert list(made.score(list(said))) == [float(same) for same in said.values()]


def test_report_shows_the_curves_before_and_after(seeded: Seeded) -> None:
    decide(seeded, 60)
    refit(seeded)
    key = {"k": seeded.key("report")}
    shown = seeded.client.get("/api/report", query_string={"project": NUMBER, **key}).json["decisions"]
    assert shown["n"] == 60 and shown["calibration"]["n"] == 60
    for when in ("before", "after"):
        assert sum(one["n"] for one in shown["calibration"][when]["bins"]) == 60
    assert shown["calibration"]["after"]["ece"] < shown["calibration"]["before"]["ece"]
    page = seeded.client.get(f"/report/{NUMBER}", query_string=key).get_data(as_text=True)
    assert 'data-chart="calibration"' in page and "but they are no audit" in page


def test_panel_says_that_it_is_calibrated(seeded: Seeded) -> None:
    decide(seeded, 60)
    refit(seeded)
    seeded.score()
    query = {"project": NUMBER, "task": 101, "k": seeded.key()}
    assert seeded.as_person().get("/api/panel", query_string=query).json["provenance"]["calibrated"] == 60
