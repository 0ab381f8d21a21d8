"""What reviewers do in the panel besides decisions: regions, low agreement."""

from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.labelstudio.answers import Reading, pulled_row
from ml_backend.labelstudio.config import Control, text_controls
from ml_backend.labelstudio.regions import region_rows
from ml_backend.project_settings import ProjectSettings
from tests.ml_backend.own_session import LabelStudio, reviewer
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, Seeded, ask


def box(region: str, text: str, x: float) -> list[dict[str, Any]]:
    extent = {"x": x, "y": 10, "width": 20, "height": 10}
    common = {"id": region, "to_name": "image", "original_width": 200, "original_height": 100}
    label, note = {**extent, "rectanglelabels": ["Defect"]}, {**extent, "text": [text]}
    return [
        {"type": "rectanglelabels", "from_name": "kind", "value": label, **common},
        {"type": "textarea", "from_name": "note", "value": note, **common},
    ]


WHEN = {"updated_at": "2026-11-20T10:00:00Z"}
IN_IMAGE = {
    "id": 9,
    "data": {"image": "/data/upload/1/a.png"},
    "annotations": [
        {"id": 31, "completed_by": 2, "result": [*box("a", "crack", 10), *box("b", "crack", 60)], **WHEN},
        {"id": 32, "completed_by": 3, "result": [*box("c", "crack", 15), *box("d", "scratch", 62)], **WHEN},
        {"id": 33, "completed_by": 4, "result": box("e", "crack", 12), **WHEN},
    ],
}
NOTE = Control("note", "image", per_region=True, shows="image", source="image")


class TestRegions:
    """Texts of regions: the panel shows which region each belongs to."""

    @pytest.fixture(params=["matched", "pooled"])
    def regions(self, seeded: Seeded, request: pytest.FixtureRequest) -> Seeded:
        settings = ProjectSettings(measure="exact", regions=request.param)
        seeded.update(controls=[NOTE.to_dict()])
        seeded.store.put_read(seeded.project, [pulled_row(IN_IMAGE, Reading([NOTE], settings))])
        seeded.score(measure="exact", regions=request.param)
        return seeded

    def test_label_config_gives_the_subject_of_a_textarea(self) -> None:
        config = """<View><Image name="image" value="$image"/><RectangleLabels name="kind" toName="image"/>
            <TextArea name="note" toName="image" perRegion="true"/></View>"""
        assert text_controls(config) == (NOTE,) and Control.from_dict(NOTE.to_dict()) == NOTE

    def test_each_text_has_its_region(self, regions: Seeded) -> None:
        (field,) = ask(regions, 9).json["fields"]
        card = next(card for card in field["cards"] if len(card["has"]) == 3)
        of_card = dict(card["regions"])
        assert {rater: region["annotation"] for rater, region in of_card.items()} == {"2": 31, "3": 32, "4": 33}
        first = of_card["2"]
        assert (first["label"], first["box"], first["ratio"], first["region"]) == ("Defect", [10, 10, 20, 10], 2.0, "a")
        assert first["where"] == "10 to 30% across, 10 to 20% down"
        single_cards = {
            card["has"][0]: card["regions"][0][1]["region"] for card in field["cards"] if len(card["has"]) == 1
        }
        if regions.task(9)["answers"]["note"].get("groups"):
            assert single_cards == {"2": "b", "3": "d"}, "the same words elsewhere are another region"
        assert field["shows"] == {"kind": "image", "address": f"{LABEL_STUDIO}/data/upload/1/a.png"}

    @pytest.mark.slow
    def test_pictures_of_other_sites_are_not_asked_for(self, regions: Seeded) -> None:
        task = {**IN_IMAGE, "data": {"image": "https://elsewhere.example/a.png"}}
        settings = ProjectSettings(measure="exact", regions="matched")
        regions.store.put_read(regions.project, [pulled_row(task, Reading([NOTE], settings))])
        regions.score(measure="exact", regions="matched")
        (field,) = ask(regions, 9).json["fields"]
        assert field["shows"] == {"kind": "image", "address": None}

    def test_agreed_text_comes_with_a_region(self, regions: Seeded, label_studio: LabelStudio) -> None:
        annotations: Any = IN_IMAGE["annotations"]
        label_studio.annotations = [dict(annotation) for annotation in annotations]
        body = {"project": NUMBER, "task": 9, "fields": {"note": ["crack"]}}
        assert reviewer(regions).post("/api/agreed", json=body).status_code == 201
        label, text = label_studio.annotations[-1]["result"]
        assert text["value"]["text"] == ["crack"] and text["id"] == label["id"]
        assert text["value"]["x"] == label["value"]["x"]

    def test_region_that_is_gone_is_refused(self, regions: Seeded, label_studio: LabelStudio) -> None:
        reply = reviewer(regions).post(
            "/api/agreed", json={"project": NUMBER, "task": 9, "fields": {"note": ["crack"]}}
        )
        assert reply.status_code == 502 and "has changed" in reply.json["error"] and label_studio.annotations == []

    def test_a_text_in_two_spans_of_a_document_has_its_quote(self) -> None:
        span = {"start": 3, "end": 9}
        label, note = {**span, "text": "a quote", "labels": ["Sign"]}, {**span, "text": ["x"]}
        result = [
            {"id": "s", "type": "labels", "from_name": "l", "to_name": "t", "value": label},
            {"id": "s", "type": "textarea", "from_name": "note", "to_name": "t", "value": note},
        ]
        task = {"annotations": [{"id": 1, "completed_by": 2, "result": result}]}
        (row,) = region_rows(task, "note", ["2"])
        assert (row["label"], row["quote"], row["box"], row["where"]) == ("Sign", "a quote", None, "3 to 9")


def test_a_project_of_one_task_has_its_report(seed: Callable[..., Seeded]) -> None:
    """Its coefficient has no interval, which the picture of the headline has to bear."""
    project = seed({101: {"2": ["fever", "rash"], "3": ["fever", "rash"]}})
    assert project.as_person("lead", "8", "Lee Lead").get(f"/report/{NUMBER}").status_code == 200
