"""The comparison page: who sees what, what can be asked for, and that its numbers are those of `softirr.compare`."""

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ml_backend.report.questions import checked
from ml_backend.store.codebooks import CodebookStore
from ml_backend.store.side_by_side import KEPT, SideBySideStore
from softirr.errors import InputError
from softirr.report.charts import BAND
from tests.ml_backend.compare_page import FOUR, HOSTILE, INDEL, OTHER, ComparePage, text_of
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER


@pytest.fixture
def page(compare_page: ComparePage) -> ComparePage:
    return compare_page


class TestAccess:
    def test_the_key_goes_from_the_address_into_a_cookie(self, page: ComparePage) -> None:
        browser = page.app.test_client()
        reply = browser.get(f"/compare/{NUMBER}", query_string={"k": page.report_key(NUMBER), "control": "findings"})
        assert reply.status_code == 303 and reply.headers["Location"] == f"{NUMBER}?control=findings"
        assert browser.get(f"/compare/{NUMBER}").status_code == 200

    def test_another_project_stays_unseen_without_its_key(self, page: ComparePage) -> None:
        assert "Second round" not in text_of(page)
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 403

    def test_a_key_of_one_project_does_not_open_another(self, page: ComparePage) -> None:
        wrong = page.client.get(f"/compare/{NUMBER}", query_string={"add": OTHER, "key": page.report_key(NUMBER)})
        assert wrong.status_code == 403 and "Set-Cookie" not in wrong.headers
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 403

    def test_both_keys_show_both(self, page: ComparePage) -> None:
        added = page.client.get(f"/compare/{NUMBER}", query_string={"add": OTHER, "key": page.report_key(OTHER)})
        assert added.status_code == 303 and page.report_key(OTHER) not in added.headers["Location"]
        assert "Second round" in text_of(page)
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 202

    def test_a_comparison_is_hidden_from_who_has_one_of_the_keys(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        which = page.ask(kind="projects", projects=[OTHER]).json["id"]
        page.compute()
        half = page.app.test_client()
        half.set_cookie(f"softirr-access-{NUMBER}", page.report_key(NUMBER))
        assert half.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).status_code == 403
        assert half.get(f"/compare/{NUMBER}", query_string={"show": which}).status_code == 404
        assert "Second round" not in half.get(f"/compare/{NUMBER}").get_data(as_text=True)

    def test_of_another_project_is_not_found(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        which = SideBySideStore(page.services.store).ask(page.other, {"kind": "groups", "control": "x", "field": "y"})
        assert page.client.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).status_code == 404

    def test_the_operator_sees_all_and_other_sites_nothing(
        self, compared_projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.copytree(compared_projects, tmp_path, dirs_exist_ok=True)
        page = ComparePage(tmp_path, monkeypatch, basic_auth_user="op", basic_auth_pass="secret")
        browser = page.app.test_client()
        challenge = browser.get(f"/compare/{NUMBER}", query_string={"operator": 1})
        assert challenge.status_code == 401 and "Basic" in challenge.headers["WWW-Authenticate"]
        signed = {"Authorization": "Basic " + base64.b64encode(b"op:secret").decode()}
        assert "Second round" in browser.get(f"/compare/{NUMBER}", headers=signed).get_data(as_text=True)
        asked = {"project": NUMBER, "kind": "projects", "projects": [OTHER]}
        assert browser.post("/api/side-by-side", json=asked, headers=signed).status_code == 202
        foreign = signed | {"Origin": "http://evil.example"}
        assert browser.post("/api/side-by-side", json=asked, headers=foreign).status_code == 403
        page.services.store.close()


class TestQuestions:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("wrong", "problem"),
        [
            ({"kind": "all"}, "kind is none of"),
            ({"kind": "groups"}, "Name the field"),
            ({"kind": "groups", "field": ["a"]}, "field is not a name"),
            ({"kind": "fields"}, "one field only"),
            ({"kind": "projects", "projects": []}, "Choose one other project"),
            ({"kind": "projects", "projects": [NUMBER]}, "Choose one other project"),
            ({"kind": "projects", "projects": ["13"]}, "not a list of numbers"),
            ({"kind": "projects", "projects": list(range(20, 40))}, "at most"),
            ({"kind": "teams", "teams": [["2", "3"]]}, "two lists"),
            ({"kind": "teams", "teams": [["2", "3"], ["4"]]}, "two annotators"),
            ({"kind": "teams", "teams": [["2", "3"], ["4", "99"]]}, "not an annotator"),
            ({"kind": "annotator", "annotator": "99"}, "Choose an annotator"),
            ({"kind": "annotator", "annotator": ["2"]}, "Choose an annotator"),
            ({"kind": "time", "annotator": {"id": "2"}}, "Choose an annotator"),
            ({"kind": "annotator", "annotator": "2", "margin": 2}, "margin"),
            ({"kind": "models", "margin": True}, "margin"),
            ({"kind": "groups", "field": "site", "control": "other"}, "no such field"),
        ],
    )
    def test_what_is_wrong_is_said(self, page: ComparePage, wrong: dict[str, Any], problem: str) -> None:
        reply = page.ask(**wrong)
        assert reply.status_code == 400 and problem in reply.json["error"]

    def test_only_known_entries_are_kept(self, page: ComparePage) -> None:
        assert checked({"kind": "models", "more": 1}, page.row) == {
            "kind": "models",
            "control": "findings",
            "margin": 0.05,
        }

    def test_asked_again_is_one_comparison_and_old_ones_are_dropped(self, page: ComparePage) -> None:
        first = page.ask(kind="groups", field="site").json["id"]
        assert page.ask(kind="groups", field="site").json["id"] == first
        for k in range(KEPT):
            page.ask(kind="groups", field=f"field {k}")
        kept = SideBySideStore(page.services.store).of(page.own)
        assert len(kept) == KEPT and first not in {row["id"] for row in kept}


class TestWords:
    """softirr says items and raters; the screens say tasks and annotators, and leave names as people wrote them."""

    FOREIGN = re.compile(r"(?<![\w-])(?:items?|raters?)(?![\w-])", re.IGNORECASE)

    def shown(self, text: str) -> str:
        """What people see or hear of a page: its text, and the attributes that are read out."""
        bare = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
        spoken = re.findall(r'(?:aria-label|title|data-label|placeholder|alt)="([^"]*)"', bare)
        return " ".join([re.sub(r"<[^>]*>", " ", bare), *spoken])

    @pytest.mark.slow
    def test_no_screen_says_item_or_rater(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        page.data = {task: {"site": f"site {task % 3}" if task > 1 else ""} for task in page.stored[NUMBER]}
        page.predicted = {task: {v: ["fever"] for v in ("v1", "v2")} for task in list(page.stored[NUMBER])[:30]}
        asked: list[dict[str, Any]] = [
            {"kind": "projects", "projects": [OTHER]},
            {"kind": "groups", "field": "site"},
            {"kind": "groups", "field": "ward"},
            {"kind": "time"},
            {"kind": "time", "annotator": "3"},
            {"kind": "teams", "teams": [["2", "3"], ["4", "5"]]},
            {"kind": "annotator", "annotator": "3"},
            {"kind": "models"},
        ]
        numbers = [page.ask(**one).json["id"] for one in asked]
        page.compute()
        seen = [self.shown(text_of(page, show=number)) for number in numbers]
        assert "others, on tasks of model v1" in seen[-1] and "to the last of 40 tasks" in seen[3]
        CodebookStore(page.services.store).want(page.own, "findings")
        page.work(INDEL)
        lead = page.as_person("lead")
        seen += [self.shown(lead.get(f"/{screen}/{NUMBER}").text) for screen in ("report", "codebook", "audit")]
        store = page.services.store
        summary = json.loads(json.dumps(page.row["summary"]))
        summary["controls"]["findings"]["warnings"] = ["Only 3 items have two raters."]
        store.update_project(page.own, summary=summary, summary_at=2.0)
        seen.append(self.shown(lead.get(f"/report/{NUMBER}").text))
        assert "Only 3 tasks have two annotators." in seen[-1]
        for text in seen:
            assert "{{" not in text
            assert not self.FOREIGN.search(text), text[max(0, self.FOREIGN.search(text).start() - 80) :][:160]  # type: ignore[union-attr]

    def test_names_stay(self, page: ComparePage) -> None:
        store = page.services.store
        store.update_project(page.own, raters={**FOUR, "3": "Rater of items"})
        page.data = {task: {"item": f"item {task % 2}"} for task in page.stored[NUMBER]}
        numbers = [page.ask(kind="groups", field="item").json["id"]]
        numbers.append(page.ask(kind="annotator", annotator="3").json["id"])
        page.compute()
        groups, annotator = (self.shown(text_of(page, show=number)) for number in numbers)
        assert "item 1 minus item 0" in groups and "task 1 minus" not in groups
        assert "Rater of items" in annotator and "Annotator of tasks" not in annotator


class TestPage:
    def test_several_projects_stand_in_one_table(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        text = text_of(page)
        assert f'data-number="{NUMBER}"' in text and f'data-number="{OTHER}"' in text
        assert "Krippendorff’s alpha" in text

    def test_the_verdict_stands_in_words_beside_the_plot(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        which = page.result(kind="projects", projects=[OTHER])["id"]
        text = text_of(page, show=which)
        assert "Second round minus Findings:" in text and "<svg" in text and "Findings and Second round" in text
        assert BAND not in text, "projects have no range"

    def test_names_are_shown_as_text(self, page: ComparePage) -> None:
        page.services.store.update_project(page.own, title=HOSTILE, raters={**FOUR, "3": HOSTILE, "4": HOSTILE})
        result = page.result(kind="annotator", annotator="3")
        assert result["comparison"]["differences"][0]["b"] == f"{HOSTILE} (3)"
        page.predicted = {task: {HOSTILE: [HOSTILE]} for task in page.stored[NUMBER]}
        models = page.result(kind="models")["id"]
        page.data = {task: {HOSTILE: f"{HOSTILE}{task % 2}"} for task in page.stored[NUMBER]}
        groups = page.result(kind="groups", field=HOSTILE)["id"]
        for which in (result["id"], models, groups):
            text = text_of(page, show=which)
            assert "<img" not in text and "&lt;img" in text

    def test_a_problem_is_shown(self, page: ComparePage) -> None:
        page.problem(kind="models")
        which = SideBySideStore(page.services.store).of(page.own)[0]["id"]
        assert "No task of this project has a prediction of another model." in text_of(page, show=which)

    def test_waits_while_nothing_is_scored(self, page: ComparePage) -> None:
        page.services.store.update_project(page.own, summary=None)
        assert "being read and scored" in text_of(page)

    def test_unknown_number(self, page: ComparePage) -> None:
        assert page.client.get(f"/compare/{NUMBER}", query_string={"show": 99}).status_code == 404

    def test_checked_refuses_a_project_without_scores(self, page: ComparePage) -> None:
        page.services.store.update_project(page.own, summary=None)
        with pytest.raises(InputError, match="not been scored"):
            checked({"kind": "models"}, page.row)


def test_a_misfit_of_another_project_is_shown_under_the_name_of_its_own_field(page: ComparePage) -> None:
    summary = page.services.store.project(LABEL_STUDIO, OTHER)["summary"]  # type: ignore[index]
    renamed = {"befund": {**summary["controls"]["findings"], "misfits": ["The measure reads no German."]}}
    page.services.store.update_project(page.other, summary={**summary, "controls": renamed})
    page.cookies(NUMBER, OTHER)
    text = page.client.get(f"/compare/{NUMBER}").get_data(as_text=True)
    assert text.index("Projects side by side") < text.index("Second round: The measure reads no German.")
