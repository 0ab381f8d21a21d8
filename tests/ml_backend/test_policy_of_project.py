"""A project's policy: a setting, a part of every score, and shown with every coefficient."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from ml_backend.options import checked_options
from ml_backend.project_settings import ProjectSettings, effective
from ml_backend.review import audits
from ml_backend.review.requests import RESULT, RequestStore
from ml_backend.settings import Settings
from softirr.errors import InputError
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, Policy
from tests.ml_backend.seeded_store import NUMBER, Seeded

TASKS = {
    101: {"2": ["severe knee pain"], "3": ["mild knee pain"]},
    102: {"2": ["rash on the left arm"], "3": ["rash"]},
    103: {"2": ["cough"], "3": ["nausea"]},
}
ANY_SEVERITY = PRESETS["any-severity"]


@pytest.fixture
def seeded(tmp_path: Path) -> Seeded:
    seeded = Seeded(tmp_path)
    seeded.put(TASKS)
    seeded.update(required=2)
    return seeded


class TestSetting:
    @pytest.mark.parametrize("policy", ["any-severity", {"ignore": ["severity"], "more_general": "strict"}])
    def test_a_preset_or_an_object(self, policy: Any) -> None:
        checked = checked_options({"policy": policy}, source="x")
        settings = effective(Settings.from_environment({}), connection=checked)
        assert settings.values.policy.ignore == {"severity"}
        assert settings.sources["policy"] == "connection"
        assert settings.to_dict()["policy"]["value"] == settings.values.policy.to_dict()

    def test_a_file_is_for_the_operator_only(self, tmp_path: Path) -> None:
        ANY_SEVERITY.save(tmp_path / "policy.json")
        with pytest.raises(InputError, match="there is no policy"):
            checked_options({"policy": str(tmp_path / "policy.json")}, source="the connection")

    def test_projects_without_a_policy_keep_their_scores(self) -> None:
        assert ProjectSettings().policy == AS_WRITTEN
        assert ProjectSettings().fingerprint() == "71b718ab8f799b34"

    def test_a_policy_is_part_of_the_fingerprint_and_its_name_is_not(self) -> None:
        fingerprints = {ProjectSettings(policy=policy).fingerprint() for policy in (AS_WRITTEN, *PRESETS.values())}
        assert len(fingerprints) == len(PRESETS)
        renamed = Policy("other", ignore=ANY_SEVERITY.ignore)
        assert ProjectSettings(policy=renamed).fingerprint() == ProjectSettings(policy=ANY_SEVERITY).fingerprint()


def test_scores_panel_and_report_follow_the_policy(seeded: Seeded) -> None:
    seeded.score(policy=ANY_SEVERITY)
    tasks = seeded.store.get_tasks(seeded.project, list(TASKS))
    assert [tasks[n]["agreement"] == 1.0 for n in TASKS] == [True, False, False]
    match = tasks[101]["details"]["controls"]["findings"]["matches"][0]
    original_texts = {"2": "severe knee pain", "3": "mild knee pain"}
    assert match["texts"] == original_texts  # shown as written
    query = {"project": NUMBER, "task": 101, "k": seeded.key()}
    panel = seeded.as_person().get("/api/panel", query_string=query).json
    (card,) = panel["fields"][0]["cards"]
    assert {text["text"]: text["raters"] for text in card["texts"]} == {
        text: [who] for who, text in original_texts.items()
    }
    assert (panel["task"]["agreement"], card["lacks"]) == (1.0, [])
    report = seeded.report()
    assert ANY_SEVERITY.describe() in report["verdict"]["basis"]
    assert ["What counts as the same", ANY_SEVERITY.describe()] in report["facts"]
    page = seeded.page()
    assert escape(report["verdict"]["basis"]) in page and ANY_SEVERITY.describe() in page


def test_judgments_count_under_the_policy_of_the_project(seed: Callable[..., Seeded]) -> None:
    seeded = seed({n: {"2": [f"severe finding {n}"], "3": [f"mild finding {n % 7}"]} for n in range(20)})
    reviews = seeded.reviews
    settings = ProjectSettings(measure="indel", policy=ANY_SEVERITY)
    number = audits.ask(seeded.store, seeded.project, control="findings", measure="indel", n_judgments=12, who="Rae")
    seeded.work(settings)
    audit = reviews.audit(number)
    assert audit is not None and len(audit["sheet"]) == 12
    for index in range(len(audit["sheet"])):
        reviews.judge(number, [index], "Rae", "different" if index % 2 else "same")
    requests = RequestStore(seeded.store)
    requests.ask(seeded.project, RESULT, {"audit": number})
    seeded.work(ProjectSettings(measure="indel"))
    answer = requests.find(seeded.project, RESULT, {"audit": number})
    assert answer is not None and answer["problem"] is None
    assert answer["result"]["provenance"]["policy"]["ignore"] == []
    assert answer["result"]["audit"]["judgments"] == len(audit["sheet"])
