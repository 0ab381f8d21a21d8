"""The comparison page: who sees what, what can be asked for, and that its numbers are those of `softirr.compare`."""

import base64
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.auth.keys import Keys
from ml_backend.demo import data
from ml_backend.labelstudio import tasks as reading
from ml_backend.report.on_demand import run_wanted as on_demand
from ml_backend.report.questions import checked
from ml_backend.report.side_by_side import run_wanted
from ml_backend.review import audits
from ml_backend.settings import ProjectSettings
from ml_backend.store.codebooks import CodebookStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.side_by_side import KEPT, SideBySideStore
from softirr.errors import InputError
from softirr.report.charts import BAND
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, RATERS, Seeded

OTHER = 13
INDEL = ProjectSettings(measure="indel")
WORDS = ("fever", "cough", "rash", "headache", "nausea", "asthma", "migraine", "broken arm")
HOSTILE = "<img src=x onerror=alert(1)>"
FOUR = {**RATERS, "5": "Dora Field"}


def answers(n: int = 40, first: int = 1, wrong: int = 4) -> dict[int, dict[str, list[str]]]:
    """Tasks that four annotators answer; each takes another word in every `wrong`-th task of theirs."""
    found: dict[int, dict[str, list[str]]] = {}
    for k in range(n):
        word = WORDS[k % len(WORDS)]
        found[first + k] = {
            rater: [WORDS[(k * 3 + int(rater)) % len(WORDS)] if (k * 7 + int(rater) * 3) % wrong == 0 else word]
            for rater in FOUR
        }
    return found


class Page(Seeded):
    """A store with two scored projects; predictions and fields of tasks stand in `data` and `predicted`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any):
        super().__init__(folder, **settings)
        self.data: dict[int, dict[str, Any]] = {}
        self.predicted: dict[int, dict[str, list[str]]] = {}
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.stored: dict[int, Mapping[int, Mapping[str, Sequence[str]]]] = {}
        monkeypatch.setattr(reading, "pages", self._pages)
        self.own = self.project
        self.other = self.services.store.ensure_project(LABEL_STUDIO, OTHER)["id"]
        self.fill(self.own, NUMBER, "Findings", answers())
        self.fill(self.other, OTHER, "Second round", answers(30, 501, 3))
        self.project = self.own

    def fill(self, project: int, number: int, title: str, given: Mapping[int, Mapping[str, Sequence[str]]]) -> None:
        self.project = project
        self.services.store.update_project(
            project,
            title=title,
            raters=FOUR,
            pulled_at=1.0,
            controls=[{"name": "findings", "to_name": "text", "per_region": False}],
            label_config='<View><Text name="text" value="$story"/><TextArea name="findings" toName="text"/></View>',
            connection={"mode": "connected"},
        )
        self.stored[number] = given
        if self.row["summary"] is None:
            self.put(given)
            self.score()

    def _pages(self, client: Any, number: int, *, page_size: int, data: bool = False) -> Iterator[list[dict[str, Any]]]:
        yield [
            {
                "id": task,
                "annotations": self.annotations.get(task, [{"created_at": f"2026-03-{1 + task % 28:02d}T10:00:00Z"}]),
                "predictions": [
                    {
                        "id": k,
                        "model_version": version,
                        "created_at": "2026-01-01T00:00:00Z",
                        "result": [
                            {"from_name": "findings", "to_name": "text", "type": "textarea", "value": {"text": texts}}
                        ],
                    }
                    for k, (version, texts) in enumerate(self.predicted.get(task, {}).items())
                ],
                **({"data": self.data.get(task, {})} if data else {}),
            }
            for task in self.stored[number]
        ]

    def cookies(self, *numbers: int) -> None:
        for number in numbers:
            self.client.set_cookie(f"softirr-access-{number}", self.report_key(number))

    def report_key(self, number: int) -> str:
        return Keys(self.services.store.secret()).key(number, "report")

    def ask(self, **question: Any) -> Any:
        return self.client.post("/api/side-by-side", json={"project": NUMBER, "control": "findings", **question})

    def compute(self) -> None:
        run_wanted(self.services.store, self.services.scorer, self.row, INDEL, None)  # type: ignore[arg-type]

    def found(self, **question: Any) -> dict[str, Any]:
        reply = self.ask(**question)
        assert reply.status_code == 202, reply.json
        self.newest = reply.json["id"]
        self.compute()
        body = self.client.get(f"/api/side-by-side/{reply.json['id']}", query_string={"project": NUMBER}).json
        assert body["state"] == "done", body["problem"]
        assert isinstance(body, dict)
        return body

    def problem(self, **question: Any) -> str:
        which = self.ask(**question).json["id"]
        self.compute()
        body = self.client.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).json
        assert body["state"] == "failed"
        return str(body["problem"])

    def audited(self) -> Any:
        """An audit of the first project in which identical texts are the same, evaluated."""
        store, scorer, reviews = self.services.store, self.services.scorer, ReviewStore(self.services.store)
        which = audits.ask(reviews, self.own, control="findings", measure="indel", wanted=40, who="Eve")
        on_demand(store, scorer, self.row, INDEL)
        for place, (_, _, a, b) in enumerate(reviews.audit(which)["sheet"]):  # type: ignore[index]
            reviews.judge(which, [place], "Eve", "same" if a == b else "different")
        reviews.update_audit(which, asked_at=1.0)
        on_demand(store, scorer, self.row, INDEL)
        return reviews.audit(which)

    def table(self, number: int = NUMBER, **fields: Any) -> softirr.AnnotationTable:
        rows = [
            softirr.Answer(f"{number}-{task}" if not fields else str(task), FOUR[rater], tuple(texts))
            for task, given in self.stored[number].items()
            for rater, texts in given.items()
        ]
        return softirr.AnnotationTable.from_answers(rows, **fields)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scored projects, which each test copies."""
    folder = tmp_path_factory.mktemp("scored")
    with pytest.MonkeyPatch.context() as patch:
        Page(folder, patch).services.store.close()
    return folder


@pytest.fixture
def page(scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    shutil.copytree(scored, tmp_path, dirs_exist_ok=True)
    made = Page(tmp_path, monkeypatch)
    made.cookies(NUMBER)
    yield made
    made.services.store.close()


def text_of(page: Page, **query: Any) -> str:
    reply = page.client.get(f"/compare/{NUMBER}", query_string=query)
    assert reply.status_code == 200
    return str(reply.get_data(as_text=True))


class TestAccess:
    def test_the_key_goes_from_the_address_into_a_cookie(self, page: Page) -> None:
        browser = page.app.test_client()
        reply = browser.get(f"/compare/{NUMBER}", query_string={"k": page.report_key(NUMBER), "control": "findings"})
        assert reply.status_code == 303 and reply.headers["Location"] == f"{NUMBER}?control=findings"
        assert browser.get(f"/compare/{NUMBER}").status_code == 200

    def test_another_project_stays_unseen_without_its_key(self, page: Page) -> None:
        assert "Second round" not in text_of(page)
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 403

    def test_a_key_of_one_project_does_not_open_another(self, page: Page) -> None:
        wrong = page.client.get(f"/compare/{NUMBER}", query_string={"add": OTHER, "key": page.report_key(NUMBER)})
        assert wrong.status_code == 403 and "Set-Cookie" not in wrong.headers
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 403

    def test_both_keys_show_both(self, page: Page) -> None:
        added = page.client.get(f"/compare/{NUMBER}", query_string={"add": OTHER, "key": page.report_key(OTHER)})
        assert added.status_code == 303 and page.report_key(OTHER) not in added.headers["Location"]
        assert "Second round" in text_of(page)
        assert page.ask(kind="projects", projects=[OTHER]).status_code == 202

    def test_a_comparison_is_hidden_from_who_has_one_of_the_keys(self, page: Page) -> None:
        page.cookies(OTHER)
        which = page.ask(kind="projects", projects=[OTHER]).json["id"]
        page.compute()
        half = page.app.test_client()
        half.set_cookie(f"softirr-access-{NUMBER}", page.report_key(NUMBER))
        assert half.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).status_code == 403
        assert half.get(f"/compare/{NUMBER}", query_string={"show": which}).status_code == 404
        assert "Second round" not in half.get(f"/compare/{NUMBER}").get_data(as_text=True)

    def test_of_another_project_is_not_found(self, page: Page) -> None:
        page.cookies(OTHER)
        which = SideBySideStore(page.services.store).ask(page.other, {"kind": "groups", "control": "x", "field": "y"})
        assert page.client.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).status_code == 404

    def test_the_operator_sees_all_and_other_sites_nothing(
        self, scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.copytree(scored, tmp_path, dirs_exist_ok=True)
        page = Page(tmp_path, monkeypatch, basic_auth_user="op", basic_auth_pass="secret")
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
        ("wrong", "told"),
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
    def test_what_is_wrong_is_said(self, page: Page, wrong: dict[str, Any], told: str) -> None:
        reply = page.ask(**wrong)
        assert reply.status_code == 400 and told in reply.json["error"]

    def test_only_known_entries_are_kept(self, page: Page) -> None:
        assert checked({"kind": "models", "more": 1}, page.row) == {
            "kind": "models",
            "control": "findings",
            "margin": 0.05,
        }

    def test_asked_again_is_one_comparison_and_old_ones_are_dropped(self, page: Page) -> None:
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
        told = re.findall(r'(?:aria-label|title|data-label|placeholder|alt)="([^"]*)"', bare)
        return " ".join([re.sub(r"<[^>]*>", " ", bare), *told])

    @pytest.mark.slow
    def test_no_screen_says_item_or_rater(self, page: Page) -> None:
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
        on_demand(page.services.store, page.services.scorer, page.row, INDEL)
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

    def test_names_stay(self, page: Page) -> None:
        store = page.services.store
        store.update_project(page.own, raters={**FOUR, "3": "Rater of items"})
        page.data = {task: {"item": f"item {task % 2}"} for task in page.stored[NUMBER]}
        numbers = [page.ask(kind="groups", field="item").json["id"]]
        numbers.append(page.ask(kind="annotator", annotator="3").json["id"])
        page.compute()
        groups, annotator = (self.shown(text_of(page, show=number)) for number in numbers)
        assert "item 1 minus item 0" in groups and "task 1 minus" not in groups
        assert "Rater of items" in annotator and "Annotator of tasks" not in annotator


class TestNumbers:
    """What the page says is what `softirr.compare` says about the same answers."""

    def test_two_projects_with_other_tasks(self, page: Page) -> None:
        page.cookies(OTHER)
        found = page.found(kind="projects", projects=[OTHER])
        expected = softirr.compare([page.table(), page.table(OTHER)], "indel", items="other", cache=None)
        one = found["comparison"]["differences"][0]
        assert (one["a"], one["b"], one["n_shared"]) == ("Findings", "Second round", 0)
        assert one["value"] == pytest.approx(expected.differences[0].difference.value)
        assert one["ci95"] == pytest.approx(list(expected.differences[0].difference.ci95 or ()))
        assert "Second round minus Findings" in found["sentences"][0]

    def test_two_rounds_of_the_same_cases_are_paired(self, page: Page) -> None:
        page.cookies(OTHER)
        page.data = {task: {"case": f"c{task}"} for task in page.stored[NUMBER]}
        page.data |= {task: {"case": f"c{task - 500}"} for task in page.stored[OTHER]}
        found = page.found(kind="projects", projects=[OTHER], field="case")["comparison"]
        assert found["paired"] and found["differences"][0]["n_shared"] == 30
        assert {group["n_items"] for group in found["groups"]} == {30}

    def test_a_value_that_two_tasks_share_does_not_name_a_task(self, page: Page) -> None:
        page.cookies(OTHER)
        page.data = {task: {"case": "one"} for task in [*page.stored[NUMBER], *page.stored[OTHER]]}
        assert "several tasks with the same value of case" in page.problem(
            kind="projects", projects=[OTHER], field="case"
        )

    def test_groups_by_a_field(self, page: Page) -> None:
        page.data = {task: {"site": f"site {task % 3}"} for task in page.stored[NUMBER]}
        found = page.found(kind="groups", field="site")["comparison"]
        table = page.table(fields={str(task): {"site": f"site {task % 3}"} for task in page.stored[NUMBER]})
        from softirr.planning.compare import compare_groups

        expected = compare_groups(table, "site", "indel", cache=None)
        assert [group["value"] for group in found["groups"]] == pytest.approx(
            [group.coefficient.value for group in expected.groups]
        )
        assert found["adjusted"] == "holm" and len(found["differences"]) == 3 and found["equality"] is not None

    def test_a_field_that_no_task_has(self, page: Page) -> None:
        page.data = {task: {"site": "Basel"} for task in page.stored[NUMBER]}
        assert "has the field ward; there are annotated_at, site." in page.problem(kind="groups", field="ward")

    def test_over_time_with_a_test(self, page: Page) -> None:
        found = page.found(kind="time")
        assert found["comparison"]["trend"]["p"] is not None and len(found["comparison"]["groups"]) == 4
        assert found["sentences"][0].startswith("From the first to the last of 40 items")
        drift = page.found(kind="time", annotator="3")["comparison"]
        assert drift["rater"] == "Ben Sample" and drift["coefficient"] == "cohen_kappa"

    def test_teams(self, page: Page) -> None:
        found = page.found(kind="teams", teams=[["2", "3"], ["4", "5"]])["comparison"]
        assert [group["label"] for group in found["groups"]] == ["Ann Example, Ben Sample", "Chloé Martin, Dora Field"]
        assert found["paired"] and [group["n_raters"] for group in found["groups"]] == [2, 2]

    def test_one_annotator_with_the_others(self, page: Page) -> None:
        found = page.found(kind="annotator", annotator="3", margin=0.1)
        assert found["comparison"]["margin"] == 0.1 and found["comparison"]["differences"][0]["verdict"]
        assert found["sentences"][-1].startswith("Ben Sample: ")
        assert [group["label"] for group in found["comparison"]["others"]] == [
            "Ann Example",
            "Chloé Martin",
            "Dora Field",
        ]

    def test_models_in_one_table(self, page: Page) -> None:
        """One model repeats the right word, another one knows one word only."""
        page.predicted = {
            task: {"good": [WORDS[(task - 1) % len(WORDS)]], "poor": ["fever"], "agreement": ["cough"]}
            for task in page.stored[NUMBER]
        }
        found = page.found(kind="models")["comparison"]
        verdicts = {one["b"]: one["verdict"] for one in found["differences"]}
        assert set(verdicts) == {"model good", "model poor"}
        assert verdicts["model good"].startswith("within the range") and verdicts["model poor"] == "below the others"
        shown = page.client.get(f"/compare/{NUMBER}", query_string={"show": page.newest}).text
        assert "model poor: does not pass the alternative annotator test" in shown
        assert "model good: passes the alternative annotator test" in shown
        table = shown.partition("<bdi>model poor</bdi> is furthest from")[2].partition("</table>")[0]
        far = re.findall(r'data\?task=(\d+)" target="_blank" rel="noopener">(\d+)</a>', table)
        assert len(far) == 10 and all(link == number for link, number in far) and table.count("<bdi>fever</bdi>") == 10
        assert all(WORDS[(int(number) - 1) % len(WORDS)] != "fever" for number, _ in far)
        assert "Adjusted interval" not in shown and "with a probability of 95% none of them is wrong" in shown

    @pytest.mark.slow
    def test_the_good_and_the_bad_model_of_the_demo(self, page: Page) -> None:
        """Four annotators and two models of the demo's project, whose answers are in its key."""
        names, tasks = dict(zip(data.annotators(), FOUR, strict=True)), data.narratives()
        given = {
            number: {names[who]: list(texts) for who, texts in task.answers.items() if texts is not None}
            for number, task in enumerate(tasks, start=1)
        }
        page.put(given)
        page.stored[NUMBER] = given
        models = data.models()
        page.predicted = {
            number: {model: list(findings[number - 1]) for model, findings in models.items()} for number in given
        }
        answer = page.found(kind="models")
        shown = " ".join(answer["sentences"])
        assert "model good: within the range of the others" in shown and "model bad: below the others" in shown
        assert "model good: passes the alternative" in shown and "model bad: does not pass the alternative" in shown
        text = text_of(page, show=answer["id"])
        assert text.count(BAND) == 2, "the wide chart and the narrow one; the range follows from the stored others"
        assert ">model bad − others<" in text, "a label that fits"

    def test_two_rounds_of_the_same_tasks(self, page: Page) -> None:
        """The store holds the second answers only; in the first round everybody wrote the same."""
        for task, given in page.stored[NUMBER].items():
            page.annotations[task] = [
                {
                    "id": task * 100 + 10 * place + int(rater),
                    "completed_by": int(rater),
                    "updated_at": at,
                    "result": [
                        {"from_name": "findings", "to_name": "text", "type": "textarea", "value": {"text": texts}}
                    ],
                }
                for rater, later in given.items()
                for place, (at, texts) in enumerate(
                    (("2026-02-03T10:00:00Z", [WORDS[task % len(WORDS)]]), ("2026-03-01T00:00:00Z", later))
                )
            ]
        found = page.found(kind="rounds", date="2026-03-01")["comparison"]
        assert [one["label"] for one in found["groups"]] == ["before 2026-03-01", "since 2026-03-01"]
        assert found["paired"] and found["a"]["value"] == 1 and found["differences"][0]["n_shared"] == 40
        whole = softirr.agreement(page.table(), "indel", progress=None, cache=None)
        assert found["b"]["value"] == pytest.approx(whole.coefficients[found["coefficient"]].value, abs=1e-6)
        assert "The rounds before and since 2026-03-01" in page.client.get(f"/compare/{NUMBER}").text
        assert "No answer was last changed since 2027-01-01." in page.problem(kind="rounds", date="2027-01-01")
        assert "'March' is no date" in page.ask(kind="rounds", date="March").json["error"]

    def test_groups_of_tasks_that_were_shown_again(self, page: Page) -> None:
        numbers = sorted(page.stored[NUMBER])
        page.data = {task: {"round": 1 + place // 20, "case": place % 20} for place, task in enumerate(numbers)}
        found = page.found(kind="groups", field="round", same="case")["comparison"]
        assert found["paired"] and found["differences"][0]["n_shared"] == 20

    def test_without_models(self, page: Page) -> None:
        assert "prediction of another model" in page.problem(kind="models")

    def test_fields_of_one_project(self, page: Page) -> None:
        both = {}
        for task, given in page.stored[NUMBER].items():
            both[task] = {
                name: {
                    "answers": {r: (t if name == "findings" else ["fever"]) for r, t in given.items()},
                    "excluded": [],
                }
                for name in ("findings", "causes")
            }
        rows = [
            {
                "number": task,
                "updated_at": "2026-11-20T12:00:00Z",
                "generation": 1,
                "n_annotations": 4,
                "n_answers": 4,
                "answers": given,
                "answers_hash": f"h{task}",
                "actual": [],
            }
            for task, given in both.items()
        ]
        page.services.store.put_pulled(page.own, rows)
        page.score()
        found = page.found(kind="fields")["comparison"]
        assert [group["label"] for group in found["groups"]] == ["findings", "causes"]

    def test_changed_answers_are_said(self, page: Page) -> None:
        page.data = {task: {"site": f"site {task % 3}"} for task in page.stored[NUMBER]}
        which = page.found(kind="groups", field="site")["id"]
        assert "Answers or decisions changed" not in text_of(page, show=which)
        page.put({1: {"2": ["other"], "3": ["words"]}})
        assert "Answers or decisions changed" in text_of(page, show=which)

    def test_a_finished_audit_of_the_same_answers_counts(self, page: Page) -> None:
        page.cookies(OTHER)
        result = page.audited()["result"]
        first = page.found(kind="projects", projects=[OTHER])["comparison"]
        name = first["coefficient"]
        assert [group["audited"] for group in first["groups"]] == [True, False]
        assert first["groups"][0]["value"] == result["coefficients"][name]["value"]
        one = page.found(kind="annotator", annotator="3")["comparison"]
        assert [(group["label"], group["audited"]) for group in one["groups"]] == [
            ("others", True),
            ("Ben Sample", True),
        ]
        assert {group["label"] for group in one["others"]} == {"Ann Example", "Chloé Martin", "Dora Field"}
        page.put({1: {"2": ["other"], "3": ["words"]}})
        again = page.found(kind="projects", projects=[OTHER])["comparison"]
        # the judged pairs of the other tasks still count
        assert [group["audited"] for group in again["groups"]] == [True, False]
        assert 0 < again["groups"][0]["judgments"] <= first["groups"][0]["judgments"]

    def test_an_audit_with_models_as_raters_corrects_their_comparison(self, page: Page) -> None:
        page.put({task: {**given, "model:one": given["2"]} for task, given in page.stored[NUMBER].items()})
        page.audited()
        found = page.found(kind="models")["comparison"]
        assert [(group["label"], group["audited"]) for group in found["groups"]] == [
            ("others", True),
            ("model one", True),
        ]


class TestPage:
    def test_several_projects_stand_in_one_table(self, page: Page) -> None:
        page.cookies(OTHER)
        text = text_of(page)
        assert f'data-number="{NUMBER}"' in text and f'data-number="{OTHER}"' in text
        assert "Krippendorff’s alpha" in text

    def test_the_verdict_stands_in_words_beside_the_plot(self, page: Page) -> None:
        page.cookies(OTHER)
        which = page.found(kind="projects", projects=[OTHER])["id"]
        text = text_of(page, show=which)
        assert "Second round minus Findings:" in text and "<svg" in text and "Findings and Second round" in text
        assert BAND not in text, "projects have no range"

    def test_names_are_shown_as_text(self, page: Page) -> None:
        page.services.store.update_project(page.own, title=HOSTILE, raters={**FOUR, "3": HOSTILE, "4": HOSTILE})
        found = page.found(kind="annotator", annotator="3")
        assert found["comparison"]["differences"][0]["b"] == f"{HOSTILE} (3)"
        page.predicted = {task: {HOSTILE: [HOSTILE]} for task in page.stored[NUMBER]}
        models = page.found(kind="models")["id"]
        page.data = {task: {HOSTILE: f"{HOSTILE}{task % 2}"} for task in page.stored[NUMBER]}
        groups = page.found(kind="groups", field=HOSTILE)["id"]
        for which in (found["id"], models, groups):
            text = text_of(page, show=which)
            assert "<img" not in text and "&lt;img" in text

    def test_a_problem_is_shown(self, page: Page) -> None:
        page.problem(kind="models")
        which = SideBySideStore(page.services.store).of(page.own)[0]["id"]
        assert "No task of this project has a prediction of another model." in text_of(page, show=which)

    def test_waits_while_nothing_is_scored(self, page: Page) -> None:
        page.services.store.update_project(page.own, summary=None)
        assert "being read and scored" in text_of(page)

    def test_unknown_number(self, page: Page) -> None:
        assert page.client.get(f"/compare/{NUMBER}", query_string={"show": 99}).status_code == 404

    def test_checked_refuses_a_project_without_scores(self, page: Page) -> None:
        page.services.store.update_project(page.own, summary=None)
        with pytest.raises(InputError, match="not been scored"):
            checked({"kind": "models"}, page.row)


def test_a_misfit_of_another_project_is_shown_under_the_name_of_its_own_field(page: Page) -> None:
    summary = page.services.store.project(LABEL_STUDIO, OTHER)["summary"]  # type: ignore[index]
    renamed = {"befund": {**summary["controls"]["findings"], "misfits": ["The measure reads no German."]}}
    page.services.store.update_project(page.other, summary={**summary, "controls": renamed})
    page.cookies(NUMBER, OTHER)
    text = page.client.get(f"/compare/{NUMBER}").get_data(as_text=True)
    assert text.index("Projects side by side") < text.index("Second round: The measure reads no German.")
