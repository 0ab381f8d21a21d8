"""Parts of the report that tell tasks apart: by a field, a label, region, day and person; and the link to share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from seeded_store import NUMBER, Seeded

from ml_backend.labelstudio.answers import task_answers
from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.facts import DIFFER, facts_of
from ml_backend.report.trends import person_trends
from ml_backend.settings import ProjectSettings

HOSTILE = "<img src=x onerror=alert(1)>"
TASKS = {n: {"2": ["fever"], "3": ["fever" if n % 2 else "rash"], "4": ["fever"]} for n in range(1, 41)}
FACTS = {
    n: {
        "data": {"site": "Bern" if n % 2 else HOSTILE, "id": str(n)},
        "labels": {"kind": "acute"} if n < 5 else {"kind": "chronic"},
        "days": dict.fromkeys(given, f"2026-11-{1 + n // 4:02d}"),
    }
    for n, given in TASKS.items()
}


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    made = Seeded(tmp_path)
    made.put(TASKS, facts=FACTS)
    made.score(measure="exact")
    yield made
    made.services.store.close()


def report(seeded: Seeded, query: str = "") -> dict[str, Any]:
    found = seeded.as_person().get(f"/api/report?project={NUMBER}{query}").get_json()
    assert isinstance(found, dict)
    return found


def page(seeded: Seeded, query: str = "", role: str = "reviewer") -> str:
    return str(seeded.as_person(role).get(f"/report/{NUMBER}{query}").get_data(as_text=True))


def test_groups_by_a_field_of_the_data_or_a_label(seeded: Seeded) -> None:
    found = report(seeded)
    assert found["dimensions"] == ["site", "label kind"], "a field with a value for each task is no group"
    groups = {one["label"]: one for one in found["subgroups"]["groups"]}
    assert (groups["Bern"]["agreement"], groups["Bern"]["n"]) == (1.0, 20)
    assert groups[HOSTILE]["agreement"] == pytest.approx(1 / 3)
    expected = found["expected_agreement"]["krippendorff"]
    assert groups[HOSTILE]["corrected"] == pytest.approx((1 / 3 - expected) / (1 - expected))
    by_label = report(seeded, "&by=label kind")["subgroups"]
    assert {one["label"]: one["n"] for one in by_label["groups"]} == {"acute": 4, "chronic": 36}
    assert report(seeded, "&by=weather")["subgroups"]["by"] == "site"


def test_values_of_tasks_are_escaped(seeded: Seeded) -> None:
    for text in (page(seeded), page(seeded, "/report.html")):
        assert HOSTILE not in text and "&lt;img src=x" in text


def test_the_condition_is_the_leads_choice(seeded: Seeded) -> None:
    body = {"project": NUMBER, "condition": "label kind"}
    assert seeded.as_person("reviewer").post("/api/report/condition", json=body).status_code == 403
    lead = seeded.as_person("lead")
    assert lead.post("/api/report/condition", json={**body, "condition": "weather"}).status_code == 404
    assert lead.post("/api/report/condition", json=body).get_json() == {"condition": "label kind"}
    assert report(seeded)["subgroups"]["by"] == report(seeded)["condition"] == "label kind"
    assert report(seeded, "&by=site")["subgroups"]["by"] == "site"
    assert lead.post("/api/report/condition", json={**body, "condition": None}).get_json() == {"condition": None}
    assert report(seeded)["condition"] is None and seeded.row["chosen"] == {}


def test_days_leave_out_the_tasks_of_other_days(seeded: Seeded) -> None:
    found = report(seeded, "&from=2026-11-02&to=2026-11-03")
    assert [row["task"] for row in sorted(found["queue"], key=lambda row: row["task"])] == list(range(4, 12))
    assert (found["days"]["n"], found["days"]["found"]["n"], found["n_tasks"]) == (8, 8, 40)
    assert sum(one["n"] for one in found["subgroups"]["groups"]) == sum(one["n"] for one in found["histogram"]) == 8
    assert [one["label"] for one in found["over_time"]] == ["2026-11-02", "2026-11-03"]
    assert found["headline"] == report(seeded)["headline"]
    text = page(seeded, "?from=2026-11-02&to=2026-11-03")
    assert "Only tasks last answered from 2026-11-02 to 2026-11-03: 8 tasks" in " ".join(text.split())
    assert "from=2026-11-02&amp;to=2026-11-03&amp;reason=" in text, "a reason keeps the days"
    rows = seeded.as_person().get(f"/report/{NUMBER}/tasks.csv?from=2026-11-02&to=2026-11-03").get_data(as_text=True)
    assert len(rows.splitlines()) == 1 + 8
    empty = report(seeded, "&from=2030-01-01")
    assert empty["days"]["found"] is None and empty["subgroups"]["groups"] == []
    assert "0 tasks" in page(seeded, "?from=2030-01-01")


@pytest.mark.parametrize("query", ["from=yesterday", "to=2026-13-01", "from=2026-11-03&to=2026-11-02"])
def test_days_that_are_none_are_refused(seeded: Seeded, query: str) -> None:
    assert seeded.as_person().get(f"/api/report?project={NUMBER}&{query}").status_code == 400


def test_the_trend_of_each_annotator(seeded: Seeded) -> None:
    found = report(seeded)["person_trends"]
    assert (found["unit"], len(found["periods"])) == ("day", 11)
    assert {one["name"]: one["said"] for one in found["people"]} == {
        "Ann Example": "no clear change",
        "Ben Sample": "no clear change",
        "Chloé Martin": "no clear change",
    }
    assert 'data-chart="person_trends"' in page(seeded)


@pytest.mark.parametrize(("sign", "said"), [(1, "rising"), (-1, "falling")])
def test_a_trend_is_said_where_it_is_sure(sign: int, said: str) -> None:
    values = [0.5 + sign * (0.01 * n + 0.02 * (n % 2)) for n in range(30)]
    rows = [{"people": (("2", f"2026-{1 + n // 10:02d}-{1 + n % 10:02d}", value),)} for n, value in enumerate(values)]
    found = person_trends(rows, {"2": "Ann"})
    assert found is not None
    (one,) = found["people"]
    assert (found["unit"], one["said"], one["n"], sum(one["counts"])) == ("week", said, 30, 30)
    assert sign * one["change"] > 0.2


def test_few_tasks_have_no_trend() -> None:
    rows = [{"people": (("2", f"2026-11-0{n}", 0.1 * n),)} for n in range(1, 9)]
    found = person_trends(rows, {})
    assert found is not None and found["people"][0]["said"] == "fewer than 10 tasks"


class TestLink:
    def test_the_key_is_for_leads(self, seeded: Seeded) -> None:
        body = {"project": NUMBER}
        assert seeded.as_person("reviewer").post("/api/report/link", json=body).status_code == 403
        found = seeded.as_person("lead").post("/api/report/link", json=body).get_json()
        assert seeded.app.test_client().get(f"/report/{NUMBER}?k={found['key']}").status_code == 200

    def test_the_page_says_what_a_link_opens(self, seeded: Seeded) -> None:
        assert "Whoever has it is treated as a lead" in page(seeded, role="lead")
        text = page(seeded)
        assert "Copy the link" in text and "with the key" not in text
        assert seeded.key("report") not in page(seeded, role="lead")


def box(id: str, text: str, x: float, label: str) -> list[dict[str, Any]]:
    place = {"x": x, "y": 10, "width": 20, "height": 10}
    return [
        {"id": id, "type": "rectanglelabels", "from_name": "kind", "value": {**place, "rectanglelabels": [label]}},
        {"id": id, "type": "textarea", "from_name": "note", "to_name": "image", "value": {**place, "text": [text]}},
    ]


REGIONS = {
    "id": 1,
    "data": {"site": "Bern", "image": "https://x/1.png", "long": "x" * 100, "n": 3, "flag": True, "nested": {"a": 1}},
    "annotations": [
        {
            "completed_by": 2,
            "updated_at": "2026-11-20T10:00:00Z",
            "result": [*box("a", "crack", 10, "Defect"), *box("b", "scratch", 60, "Mark")],
        },
        {"completed_by": 3, "updated_at": "2026-11-21T10:00:00Z", "result": box("c", "a crack", 15, "Defect")},
    ],
}


class TestRegions:
    control = Control("note", "image", per_region=True)

    def facts(self) -> dict[str, Any]:
        answers = task_answers(REGIONS, [self.control], ProjectSettings(measure="exact", regions="overlap"))
        return facts_of(REGIONS, [self.control], answers)

    def test_facts_of_a_task(self) -> None:
        found = self.facts()
        assert found["data"] == {"site": "Bern", "n": "3", "flag": "yes"}
        assert found["days"] == {"2": "2026-11-20", "3": "2026-11-21"}
        assert found["labels"] == {"kind": DIFFER}
        first, second = found["places"]["note"]
        assert (first["label"], first["raters"]) == ("Defect", ["2", "3"])
        assert first["boxes"] == [["2", 10, 10, 20, 10], ["3", 15, 10, 20, 10]]
        assert (second["label"], second["raters"], second["where"]) == (
            "Mark",
            ["2"],
            "60 to 80% across, 10 to 20% down",
        )

    def test_the_report_shows_places_with_their_boxes(self, tmp_path: Path) -> None:
        made = Seeded(tmp_path)
        settings = ProjectSettings(measure="exact", regions="overlap")
        answers = task_answers(REGIONS, [self.control], settings)
        store = made.services.store
        store.update_project(made.project, controls=[self.control.to_dict()])
        row = {"number": 1, "updated_at": None, "generation": 1, "n_annotations": 2, "n_answers": 2, "actual": []}
        store.put_pulled(
            made.project,
            [{**row, "answers": answers, "answers_hash": "x", "facts": facts_of(REGIONS, [self.control], answers)}],
        )
        made.score(measure="exact", regions="overlap")
        found = report(made)["regions"]
        assert {one["label"]: (one["n"], one["alone"], one["agreement"]) for one in found["groups"]} == {
            "Defect": (1, 0, 0.0),
            "Mark": (1, 1, 0.0),
        }
        text = page(made)
        assert len(re.findall(r"<rect x=", text)) == 3 and "Defect" in text
        store.close()

    def test_pooled_regions_say_how_to_compare_them(self, seeded: Seeded) -> None:
        assert "--regions overlap" not in page(seeded)
        seeded.services.store.update_project(
            seeded.project, controls=[{"name": "findings", "per_region": True}], summary_at=2.0
        )
        assert "--regions overlap" in page(seeded)
