"""The numbers of the comparison page are those of `softirr.compare`, and its questions are answered once."""

import re

import pytest

import softirr
from ml_backend.demo import example
from softirr.report.charts import BAND
from tests.ml_backend.compare_page import FOUR, OTHER, WORDS, ComparePage, text_of
from tests.ml_backend.seeded_store import NUMBER


@pytest.fixture
def page(compare_page: ComparePage) -> ComparePage:
    return compare_page


class TestNumbers:
    """What the page says is what `softirr.compare` says about the same answers."""

    def test_two_projects_with_other_tasks(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        result = page.result(kind="projects", projects=[OTHER])
        expected = softirr.compare([page.table(), page.table(OTHER)], "indel", items="other", cache=None)
        one = result["comparison"]["differences"][0]
        assert (one["a"], one["b"], one["n_shared"]) == ("Findings", "Second round", 0)
        assert one["value"] == pytest.approx(expected.differences[0].difference.value)
        assert one["ci95"] == pytest.approx(list(expected.differences[0].difference.ci95 or ()))
        assert "Second round minus Findings" in result["sentences"][0]

    def test_two_rounds_of_the_same_cases_are_paired(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        page.data = {task: {"case": f"c{task}"} for task in page.stored[NUMBER]}
        page.data |= {task: {"case": f"c{task - 500}"} for task in page.stored[OTHER]}
        result = page.result(kind="projects", projects=[OTHER], field="case")["comparison"]
        assert result["paired"] and result["differences"][0]["n_shared"] == 30
        assert {group["n_items"] for group in result["groups"]} == {30}

    def test_a_value_that_two_tasks_share_does_not_name_a_task(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        page.data = {task: {"case": "one"} for task in [*page.stored[NUMBER], *page.stored[OTHER]]}
        assert "several tasks with the same value of case" in page.problem(
            kind="projects", projects=[OTHER], field="case"
        )

    def test_groups_by_a_field(self, page: ComparePage) -> None:
        page.data = {task: {"site": f"site {task % 3}"} for task in page.stored[NUMBER]}
        result = page.result(kind="groups", field="site")["comparison"]
        table = page.table(fields={str(task): {"site": f"site {task % 3}"} for task in page.stored[NUMBER]})
        from softirr.planning.compare import compare_groups

        expected = compare_groups(table, "site", "indel", cache=None)
        assert [group["value"] for group in result["groups"]] == pytest.approx(
            [group.coefficient.value for group in expected.groups]
        )
        assert result["adjusted"] == "holm" and len(result["differences"]) == 3 and result["equality"] is not None

    def test_a_field_that_no_task_has(self, page: ComparePage) -> None:
        page.data = {task: {"site": "Basel"} for task in page.stored[NUMBER]}
        assert "has the field ward; there are annotated_at, site." in page.problem(kind="groups", field="ward")

    def test_over_time_with_a_test(self, page: ComparePage) -> None:
        result = page.result(kind="time")
        assert result["comparison"]["trend"]["p"] is not None and len(result["comparison"]["groups"]) == 4
        assert result["sentences"][0].startswith("From the first to the last of 40 items")
        drift = page.result(kind="time", annotator="3")["comparison"]
        assert drift["rater"] == "Ben Sample" and drift["coefficient"] == "cohen_kappa"

    def test_teams(self, page: ComparePage) -> None:
        result = page.result(kind="teams", teams=[["2", "3"], ["4", "5"]])["comparison"]
        assert [group["label"] for group in result["groups"]] == ["Ann Example, Ben Sample", "Chloé Martin, Dora Field"]
        assert result["paired"] and [group["n_raters"] for group in result["groups"]] == [2, 2]

    def test_one_annotator_with_the_others(self, page: ComparePage) -> None:
        result = page.result(kind="annotator", annotator="3", margin=0.1)
        assert result["comparison"]["margin"] == 0.1 and result["comparison"]["differences"][0]["verdict"]
        assert result["sentences"][-1].startswith("Ben Sample: ")
        assert [group["label"] for group in result["comparison"]["others"]] == [
            "Ann Example",
            "Chloé Martin",
            "Dora Field",
        ]

    def test_models_in_one_table(self, page: ComparePage) -> None:
        """One model repeats the right word, another one knows one word only."""
        page.predicted = {
            task: {"good": [WORDS[(task - 1) % len(WORDS)]], "poor": ["fever"], "agreement": ["cough"]}
            for task in page.stored[NUMBER]
        }
        result = page.result(kind="models")["comparison"]
        verdicts = {one["b"]: one["verdict"] for one in result["differences"]}
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
    def test_the_good_and_the_bad_model_of_the_demo(self, page: ComparePage) -> None:
        """Four annotators and two models of the demo's project, whose answers are in its key."""
        names, tasks = dict(zip(example.annotators(), FOUR, strict=True)), example.narratives()
        given = {
            number: {names[who]: list(texts) for who, texts in task.answers.items() if texts is not None}
            for number, task in enumerate(tasks, start=1)
        }
        page.put(given)
        page.stored[NUMBER] = given
        models = example.models()
        page.predicted = {
            number: {model: list(findings[number - 1]) for model, findings in models.items()} for number in given
        }
        answer = page.result(kind="models")
        shown = " ".join(answer["sentences"])
        assert "model good: within the range of the others" in shown and "model bad: below the others" in shown
        assert "model good: passes the alternative" in shown and "model bad: does not pass the alternative" in shown
        text = text_of(page, show=answer["id"])
        assert text.count(BAND) == 2, "the wide chart and the narrow one; the range follows from the stored others"
        assert ">model bad − others<" in text, "a label that fits"

    def test_two_rounds_of_the_same_tasks(self, page: ComparePage) -> None:
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
        result = page.result(kind="rounds", date="2026-03-01")["comparison"]
        assert [one["label"] for one in result["groups"]] == ["before 2026-03-01", "since 2026-03-01"]
        assert result["paired"] and result["a"]["value"] == 1 and result["differences"][0]["n_shared"] == 40
        whole = softirr.agreement(page.table(), "indel", progress=None, cache=None)
        assert result["b"]["value"] == pytest.approx(whole.coefficients[result["coefficient"]].value, abs=1e-6)
        assert "The rounds before and since 2026-03-01" in page.client.get(f"/compare/{NUMBER}").text
        assert "No answer was last changed since 2027-01-01." in page.problem(kind="rounds", date="2027-01-01")
        assert "'March' is no date" in page.ask(kind="rounds", date="March").json["error"]

    def test_groups_of_tasks_that_were_shown_again(self, page: ComparePage) -> None:
        numbers = sorted(page.stored[NUMBER])
        page.data = {task: {"round": 1 + place // 20, "case": place % 20} for place, task in enumerate(numbers)}
        result = page.result(kind="groups", field="round", same="case")["comparison"]
        assert result["paired"] and result["differences"][0]["n_shared"] == 20

    def test_without_models(self, page: ComparePage) -> None:
        assert "prediction of another model" in page.problem(kind="models")

    def test_fields_of_one_project(self, page: ComparePage) -> None:
        answers = page.stored[NUMBER]
        causes = {task: {key: ["fever"] for key in given} for task, given in answers.items()}
        page.put(answers, beside={"causes": causes})
        page.score()
        result = page.result(kind="fields")["comparison"]
        assert [group["label"] for group in result["groups"]] == ["findings", "causes"]

    def test_changed_answers_are_said(self, page: ComparePage) -> None:
        page.data = {task: {"site": f"site {task % 3}"} for task in page.stored[NUMBER]}
        which = page.result(kind="groups", field="site")["id"]
        assert "Answers, decisions or judgments changed" not in text_of(page, show=which)
        page.put({1: {"2": ["other"], "3": ["words"]}})
        assert "Answers, decisions or judgments changed" in text_of(page, show=which)

    def test_a_finished_audit_of_the_same_answers_counts(self, page: ComparePage) -> None:
        page.cookies(OTHER)
        result = page.audited()["result"]
        first = page.result(kind="projects", projects=[OTHER])["comparison"]
        name = first["coefficient"]
        assert [group["audited"] for group in first["groups"]] == [True, False]
        assert first["groups"][0]["value"] == result["coefficients"][name]["value"]
        one = page.result(kind="annotator", annotator="3")["comparison"]
        assert [(group["label"], group["audited"]) for group in one["groups"]] == [
            ("others", True),
            ("Ben Sample", True),
        ]
        assert {group["label"] for group in one["others"]} == {"Ann Example", "Chloé Martin", "Dora Field"}
        page.put({1: {"2": ["other"], "3": ["words"]}})
        again = page.result(kind="projects", projects=[OTHER])["comparison"]
        # the judged pairs of the other tasks still count
        assert [group["audited"] for group in again["groups"]] == [True, False]
        assert 0 < again["groups"][0]["judgments"] <= first["groups"][0]["judgments"]

    def test_an_audit_with_models_as_raters_corrects_their_comparison(self, page: ComparePage) -> None:
        page.put({task: {**given, "model:one": given["2"]} for task, given in page.stored[NUMBER].items()})
        page.audited()
        result = page.result(kind="models")["comparison"]
        assert [(group["label"], group["audited"]) for group in result["groups"]] == [
            ("others", True),
            ("model one", True),
        ]
