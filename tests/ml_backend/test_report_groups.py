"""Parts of the report that tell tasks apart: by a field, a label, region, day and person; and the link to share."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ml_backend.labelstudio.answers import Reading, pulled_row
from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.task_fields import DIFFER
from ml_backend.report.links import Links
from ml_backend.report.subgroups import subgroups
from ml_backend.report.tables import table
from ml_backend.report.trends import person_trends
from ml_backend.settings import ProjectSettings
from tests.ml_backend.seeded_store import NUMBER, Seeded

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
def seeded(tmp_path: Path) -> Seeded:
    seeded = Seeded(tmp_path)
    seeded.put(TASKS, facts=FACTS)
    seeded.score(measure="exact")
    return seeded


def test_groups_by_a_field_of_the_data_or_a_label(seeded: Seeded) -> None:
    shown = seeded.report()
    assert shown["dimensions"] == ["site", "label kind"], "a field with a value for each task is no group"
    groups = {one["label"]: one for one in shown["subgroups"]["groups"]}
    assert (groups["Bern"]["agreement"], groups["Bern"]["n"]) == (1.0, 20)
    assert groups[HOSTILE]["agreement"] == pytest.approx(1 / 3)
    expected = shown["expected_agreement"]["krippendorff"]
    assert groups[HOSTILE]["corrected"] == pytest.approx((1 / 3 - expected) / (1 - expected))
    by_label = seeded.report(by="label kind")["subgroups"]
    assert {one["label"]: one["n"] for one in by_label["groups"]} == {"acute": 4, "chronic": 36}
    assert seeded.report(by="weather")["subgroups"]["by"] == "site"


def test_values_of_tasks_are_escaped(seeded: Seeded) -> None:
    for text in (seeded.page(), seeded.page("/report.html")):
        assert HOSTILE not in text and "&lt;img src=x" in text


def test_the_condition_is_the_leads_choice(seeded: Seeded) -> None:
    body = {"project": NUMBER, "condition": "label kind"}
    assert seeded.as_person("reviewer").post("/api/report/condition", json=body).status_code == 403
    lead = seeded.as_person("lead")
    assert lead.post("/api/report/condition", json={**body, "condition": "weather"}).status_code == 404
    assert lead.post("/api/report/condition", json=body).json == {"condition": "label kind"}
    assert seeded.report()["subgroups"]["by"] == seeded.report()["condition"] == "label kind"
    assert seeded.report(by="site")["subgroups"]["by"] == "site"
    assert lead.post("/api/report/condition", json={**body, "condition": None}).json == {"condition": None}
    assert seeded.report()["condition"] is None and seeded.row["chosen"] == {}


def test_days_leave_out_the_tasks_of_other_days(seeded: Seeded) -> None:
    shown = seeded.report(**{"from": "2026-11-02", "to": "2026-11-03"})
    assert [row["task"] for row in sorted(shown["queue"], key=lambda row: row["task"])] == list(range(4, 12))
    assert (shown["days"]["n"], shown["days"]["found"]["n"], shown["n_tasks"]) == (8, 8, 40)
    assert sum(one["n"] for one in shown["subgroups"]["groups"]) == sum(one["n"] for one in shown["histogram"]) == 8
    assert [one["label"] for one in shown["over_time"]] == ["2026-11-02", "2026-11-03"]
    assert shown["headline"] == seeded.report()["headline"]
    text = seeded.page("?from=2026-11-02&to=2026-11-03")
    assert "Only tasks last answered from 2026-11-02 to 2026-11-03: 8 tasks" in " ".join(text.split())
    assert "from=2026-11-02&amp;to=2026-11-03&amp;reason=" in text, "a reason keeps the days"
    rows = seeded.as_person().get(f"/report/{NUMBER}/tasks.csv?from=2026-11-02&to=2026-11-03").text
    assert len(rows.splitlines()) == 1 + 8
    empty = seeded.report(**{"from": "2030-01-01"})
    assert empty["days"]["found"] is None and empty["subgroups"]["groups"] == []
    assert "0 tasks" in seeded.page("?from=2030-01-01")


@pytest.mark.parametrize("query", ["from=yesterday", "to=2026-13-01", "from=2026-11-03&to=2026-11-02"])
def test_days_that_are_none_are_refused(seeded: Seeded, query: str) -> None:
    assert seeded.as_person().get(f"/api/report?project={NUMBER}&{query}").status_code == 400


def test_the_trend_of_each_annotator(seeded: Seeded) -> None:
    trends = seeded.report()["person_trends"]
    assert (trends["unit"], len(trends["periods"])) == ("day", 11)
    assert {one["name"]: one["said"] for one in trends["people"]} == {
        "Ann Example": "no clear change",
        "Ben Sample": "no clear change",
        "Chloé Martin": "no clear change",
    }
    assert 'data-chart="person_trends"' in seeded.page()


@pytest.mark.parametrize(("sign", "trend"), [(1, "rising"), (-1, "falling")])
def test_a_trend_is_said_where_it_is_sure(sign: int, trend: str) -> None:
    values = [0.5 + sign * (0.01 * n + 0.02 * (n % 2)) for n in range(30)]
    rows = [{"people": (("2", f"2026-{1 + n // 10:02d}-{1 + n % 10:02d}", value),)} for n, value in enumerate(values)]
    trends = person_trends(rows, {"2": "Ann"})
    assert trends is not None
    (one,) = trends["people"]
    assert (trends["unit"], one["said"], one["n"], sum(one["counts"])) == ("week", trend, 30, 30)
    assert sign * one["change"] > 0.2


def test_few_tasks_have_no_trend() -> None:
    rows = [{"people": (("2", f"2026-11-0{n}", 0.1 * n),)} for n in range(1, 9)]
    trends = person_trends(rows, {})
    assert trends is not None and trends["people"][0]["said"] == "fewer than 10 tasks"


class TestLink:
    def test_the_key_is_for_leads(self, seeded: Seeded) -> None:
        body = {"project": NUMBER}
        assert seeded.as_person("reviewer").post("/api/report/link", json=body).status_code == 403
        link = seeded.as_person("lead").post("/api/report/link", json=body).json
        assert seeded.app.test_client().get(f"/report/{NUMBER}?k={link['key']}").status_code == 200

    def test_the_page_says_what_a_link_opens(self, seeded: Seeded) -> None:
        assert "Whoever has it is treated as a lead" in seeded.page(role="lead")
        text = seeded.page()
        assert "Copy the link" in text and "with the key" not in text
        assert seeded.key("report") not in seeded.page(role="lead")


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


def test_the_coefficient_of_a_small_group_has_an_interval_within_its_range() -> None:
    """Two tasks of a project with much agreement by chance had an interval from -5.6 to 1.0."""

    def row(number: int, agreement: float) -> dict[str, Any]:
        return {"number": number, "agreement": agreement, "groups": (("site", "Bern"),)}

    summary = {"expected_agreement": {"krippendorff": 0.85}}
    links = Links("http://localhost:8080", 12)

    def interval(*values: float) -> Any:
        rows = [row(number, value) for number, value in enumerate(values)]
        (group,) = subgroups(rows, "site", {"key": "krippendorff_alpha"}, summary, links)["groups"]
        return group["corrected_ci95"]

    assert interval(0.9, 1.0) == [-1.0, 1.0]
    assert interval(0.0, 0.1) is None
    for values in permutations([0.0, 0.2, 0.5, 0.8, 0.9, 1.0], 3):
        ci95 = interval(*values)
        assert ci95 is None or -1 <= ci95[0] <= ci95[1] <= 1


OVERLAP = ProjectSettings(measure="exact", regions="overlap")


class TestRegions:
    control = Control("note", "image", per_region=True)

    def read(self, seeded: Seeded, task: dict[str, Any], settings: ProjectSettings = OVERLAP) -> None:
        """Store and score the task as a synchronization does."""
        seeded.update(controls=[self.control.to_dict()])
        seeded.store.put_pulled(seeded.project, [pulled_row(task, Reading([self.control], settings), generation=1)])

    def test_fields_of_a_task(self) -> None:
        facts = pulled_row(REGIONS, Reading([self.control], OVERLAP), generation=1)["facts"]
        assert facts["data"] == {"site": "Bern", "n": "3", "flag": "yes"}
        assert facts["days"] == {"2": "2026-11-20", "3": "2026-11-21"}
        assert facts["labels"] == {"kind": DIFFER}
        first, second = facts["places"]["note"]["0"], facts["places"]["note"]["1"]
        assert (first["label"], first["raters"]) == ("Defect", ["2", "3"])
        assert first["boxes"] == [["2", 10, 10, 20, 10], ["3", 15, 10, 20, 10]]
        assert (second["label"], second["raters"], second["where"]) == (
            "Mark",
            ["2"],
            "60 to 80% across, 10 to 20% down",
        )

    def test_the_report_shows_places_with_their_boxes(self, tmp_path: Path) -> None:
        seeded = Seeded(tmp_path)
        self.read(seeded, REGIONS)
        seeded.score(measure="exact", regions="overlap")
        places = seeded.report()["regions"]
        assert {one["label"]: (one["n"], one["alone"], one["agreement"]) for one in places["groups"]} == {
            "Defect": (1, 0, 0.0),
            "Mark": (1, 1, 0.0),
        }
        text = seeded.page()
        assert (
            len(re.findall(r"<rect x=", text.partition("<h3>Places with")[2].partition("</section>")[0])) == 3
            and "Defect" in text
        )

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    def test_each_place_has_its_own_agreement_in_any_order_of_import(
        self, tmp_path: Path, order: tuple[int, ...]
    ) -> None:
        """At Defect one of three pairs agrees, at Mark one (the third annotator drew nothing), at Other the pair of the empty ones."""
        seeded = Seeded(tmp_path)
        texts = {"Defect": ["crack", "crack", "crack"], "Mark": ["scratch", "stain", "scuff"], "Other": ["a", "a", "b"]}
        drawn = {"2": ["Defect", "Mark", "Other"], "9": ["Other", "Mark", "Defect"], "10": ["Mark", "Other", "Defect"]}
        at = {"Defect": 10, "Mark": 40, "Other": 70}
        annotations = [
            {
                "completed_by": int(rater),
                "result": [one for label in labels for one in box(rater + label, texts[label][n], at[label], label)],
            }
            for n, (rater, labels) in enumerate(drawn.items())
        ]
        self.read(seeded, {"id": 1, "annotations": [annotations[n] for n in order]})
        seeded.score(measure="exact", regions="overlap")
        places = seeded.report()["regions"]
        assert {one["label"]: one["agreement"] for one in places["groups"]} == {
            "Defect": pytest.approx(1.0),
            "Mark": pytest.approx(0.0),
            "Other": pytest.approx(1 / 3),
        }
        assert [one["label"] for one in places["worst"]] == ["Mark", "Other", "Defect"]

    def test_a_newer_annotation_under_another_config_does_not_change_the_places(self) -> None:
        """The annotator's newest annotation is left out of the answers, so its regions are no places either."""
        other = {"type": "textarea", "from_name": "gone", "to_name": "image", "value": {"text": ["x"]}}
        newer = {"completed_by": 3, "updated_at": "2026-11-22T10:00:00Z", "result": [other]}
        row = pulled_row(
            {**REGIONS, "annotations": [*REGIONS["annotations"], newer]},
            Reading([self.control], OVERLAP, names=frozenset({"note", "kind"})),
            generation=1,
        )
        assert len(row["answers"]["note"]["groups"]) == len(row["facts"]["places"]["note"])
        assert row["facts"]["places"]["note"]["0"]["raters"] == ["2", "3"]

    def test_places_wait_for_the_scores_of_the_present_answers(self, tmp_path: Path) -> None:
        seeded = Seeded(tmp_path)
        self.read(seeded, REGIONS)
        seeded.score(measure="exact", regions="overlap")
        moved = {
            **REGIONS,
            "annotations": [REGIONS["annotations"][1], {"completed_by": 2, "result": box("a", "b", 60, "Mark")}],
        }
        self.read(seeded, moved)
        assert seeded.report()["regions"] is None
        seeded.score(measure="exact", regions="overlap")
        assert {one["label"] for one in seeded.report()["regions"]["groups"]} == {"Defect", "Mark"}

    def test_places_are_counted_as_places(self, tmp_path: Path) -> None:
        """Two places of one task were two tasks in the head, in the tables of annotators and in their CSV files."""
        seeded = Seeded(tmp_path)
        self.read(seeded, REGIONS)
        seeded.score(measure="exact", regions="overlap")
        summary = {**seeded.row["summary"], "settings": {"regions": {"value": "overlap", "source": "chosen"}}}
        seeded.update(summary=summary, summary_at=2.0)
        shown = seeded.report()
        assert (shown["unit"], shown["headline"]["n_tasks"], shown["headline"]["n_places"]) == ("place", 1, 2)
        assert {one["n_items"] for one in shown["raters"]} == {2}
        assert next(iter(table("annotators", shown)))[2] == next(iter(table("annotator_pairs", shown)))[2] == "places"
        text = seeded.page()
        assert (
            "n = 1 task, 2 places" in text and "over 2 places answered by 2 annotators" in shown["headline"]["sentence"]
        )
        head = re.search(r"<h3>One by one</h3>.*?</thead>", text, re.DOTALL)
        assert head and ">Places</th>" in head[0] and ">Tasks</th>" not in head[0]
        assert "Tasks by agreement" in text

    def test_pooled_regions_say_how_to_compare_them(self, seeded: Seeded) -> None:
        assert "compare regions that overlap" not in seeded.page()
        seeded.update(controls=[{"name": "findings", "per_region": True}], summary_at=2.0)
        assert "compare regions that overlap" in seeded.page() and "softirr-ls" not in seeded.page()
