"""Before a lead chooses what counts: the coefficient and the tasks under each candidate policy."""

import time
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.report import policies
from ml_backend.settings import ProjectSettings, effective
from ml_backend.store.policies import PolicyStore
from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, Policy
from tests.ml_backend.seeded_store import NUMBER, Seeded

TASKS = {
    101: {"2": ["severe knee pain"], "3": ["mild knee pain"]},
    102: {"2": ["rash on the left arm"], "3": ["rash"]},
    103: {"2": ["cough"], "3": ["cough"]},
    104: {"2": ["severe fever"], "3": ["fever"]},
}
EXACT = ProjectSettings(measure="exact")
ANY_SEVERITY = PRESETS["any-severity"]


@pytest.fixture
def seeded(tmp_path: Path) -> Seeded:
    seeded = Seeded(tmp_path, measure="exact")
    seeded.put(TASKS)
    seeded.update(required=2)
    seeded.score(measure="exact")
    return seeded


def look(seeded: Seeded, *own: Any, settings: ProjectSettings = EXACT) -> dict[str, Any]:
    assert seeded.send("/api/policies", control="findings", policies=list(own)).status_code == 202
    assert policies.run_wanted(seeded.project_work(settings)) == 1
    return report(seeded)


def report(seeded: Seeded) -> dict[str, Any]:
    looked = seeded.report()["policies"]
    assert isinstance(looked, dict)
    return looked


def by_mark(look: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {Policy.from_dict(row["policy"]).mark(): row for row in look["rows"]}


def test_each_candidate_has_the_coefficient_of_the_command_line(seeded: Seeded) -> None:
    own = {"ignore": ["side", "severity"], "more_general": "graded"}
    rows = by_mark(look(seeded, own))
    assert len(rows) == len(PRESETS) + 1
    table = AnnotationTable.from_answers(
        [Answer(str(task), rater, tuple(texts)) for task, given in TASKS.items() for rater, texts in given.items()]
    )
    for mark, row in rows.items():
        direct = softirr.agreement(table, "exact", policy=Policy.from_dict(row["policy"]))
        assert row["value"] == pytest.approx(direct.coefficients[row["coefficient"]].value, abs=1e-12), mark
    assert rows[""]["in_use"] and not rows["without severity"]["in_use"]
    assert rows["without severity"]["value"] > rows[""]["value"]


def test_moved_tasks_are_counted_and_listed(seeded: Seeded) -> None:
    rows = by_mark(look(seeded))
    assert (rows[""]["n_moved"], rows[""]["moved"]) == (0, [])
    moved = rows["without severity"]
    assert moved["n_moved"] == 2
    assert [(one["task"], one["before"], one["after"]) for one in moved["moved"]] == [(101, 0, 1), (104, 0, 1)]
    assert moved["moved"][0]["link"].endswith("task=101")


def test_only_the_first_ten_moved_tasks_are_listed(seeded: Seeded) -> None:
    seeded.put({200 + n: {"2": [f"severe rash {n}"], "3": [f"mild rash {n}"]} for n in range(15)})
    seeded.score(measure="exact")
    moved = by_mark(look(seeded))["without severity"]
    assert moved["n_moved"] == 17 and len(moved["moved"]) == policies.LISTED


def test_the_policy_in_use_is_what_tasks_move_from(seeded: Seeded) -> None:
    seeded.update(chosen={"policy": ANY_SEVERITY.to_dict()})
    seeded.score(measure="exact", policy=ANY_SEVERITY)
    rows = by_mark(look(seeded, settings=ProjectSettings(measure="exact", policy=ANY_SEVERITY)))
    assert rows["without severity"]["in_use"] and rows["without severity"]["n_moved"] == 0
    assert rows[""]["moved"][0] | {"link": ""} == {"task": 101, "before": 1, "after": 0, "link": ""}


def test_decisions_and_audits_say_which_policy_fits(seeded: Seeded) -> None:
    services, reviews = seeded.services, seeded.reviews
    assert look(seeded)["judged"] == 0
    for word in ("pain", "rash", "cough", "nausea"):
        sign = {"reviewer": "Rae", "reviewer_id": "9", "known_by": "link"}
        services.store.decide(seeded.project, f"mild {word}", f"severe {word}", same=True, task=None, **sign)
    audit = reviews.ask_for_audit(seeded.project, control="findings", measure="exact", seed=1, wanted=2, created_by="")
    reviews.update_audit(audit, sheet=[["1", 0, "mild itch", "severe itch"], ["2", 0, "cough", "rash"]])
    reviews.judge(audit, [0], "Rae", "same")
    reviews.judge(audit, [1], "Rae", "unsure")
    shown = look(seeded)
    assert shown["judged"] == 5
    assert shown["supports"] == ["Severity: 5 of 5 judgments ignore it: does not count."]
    rows = by_mark(shown)
    assert rows["without severity"]["proposed"] and rows["without severity"]["right"] == 1
    assert not rows[""]["proposed"] and rows[""]["right"] == 0


def test_a_tie_fits_no_policy(seeded: Seeded) -> None:
    """One judgment for and one against leaving out the severity.

    Every policy explains half of them, and none was found to fit.
    """
    store = seeded.store
    store.decide(seeded.project, "severe fever", "fever", same=True, reviewer="Rae", task=104)
    store.decide(seeded.project, "severe knee pain", "mild knee pain", same=False, reviewer="Rae", task=101)
    shown = look(seeded)
    assert {row["right"] for row in shown["rows"] if row["right"] is not None} == {0.5}
    assert not any(row["proposed"] for row in shown["rows"])


def test_a_choice_is_a_setting_that_scores_the_project_again(seeded: Seeded) -> None:
    row = by_mark(look(seeded))["without severity"]
    seeded.update(wanted_at=None)
    before = seeded.row
    reply = seeded.send("/api/policies/choice", policy=row["policy"])
    assert reply.status_code == 202 and reply.json["description"] == row["description"]
    after = seeded.row
    assert after["wanted_at"] is not None
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"chosen", "wanted_at"}, "nothing else of the project can be set here"
    chosen = effective(seeded.settings, connection=after["extra_params"], chosen=after["chosen"])
    assert chosen.values.policy.ignore == {"severity"} and chosen.sources["policy"] == "softirr-ls"
    assert set(after["chosen"]) == {"policy"}


class TestProposals:
    """What reviewers say in the panel does not count."""

    @pytest.fixture(autouse=True)
    def uncounted(self, seeded: Seeded) -> None:
        sign = {"reviewer": "Rae", "reviewer_id": "9", "known_by": "link"}
        for task, attribute in ((101, "severity"), (104, "severity"), (102, "side")):
            seeded.reviews.say_uncounted(seeded.project, attribute, task=task, **sign)

    def proposed(self, seeded: Seeded) -> dict[str, dict[str, Any]]:
        return {one["attribute"]: one for one in seeded.report()["reasons"]["proposed"]}

    def test_it_says_what_it_changes_once_looked_at(self, seeded: Seeded) -> None:
        proposed = self.proposed(seeded)
        assert list(proposed) == ["severity", "side"] and proposed["severity"]["changes"] is None
        own = proposed["side"]["policy"]
        assert (own["ignore"], proposed["side"]["description"]) == (["side"], "side does not count")
        rows = by_mark(look(seeded, own))
        proposed = self.proposed(seeded)
        for attribute, mark in (("severity", "without severity"), ("side", "without side")):
            changes = proposed[attribute]["changes"]
            assert changes["value"] == rows[mark]["value"] and changes["before"] == rows[""]["value"]
            assert changes["n_moved"] == rows[mark]["n_moved"]
        seeded.update(summary_at=time.time() + 60)
        assert self.proposed(seeded)["side"]["changes"] is None, "the project was scored again since"

    @pytest.mark.slow
    def test_it_adds_to_what_does_not_count_already(self, seeded: Seeded) -> None:
        seeded.update(chosen={"policy": ANY_SEVERITY.to_dict()})
        proposed = self.proposed(seeded)
        assert proposed["severity"]["in_use"] and not proposed["side"]["in_use"]
        assert set(proposed["side"]["policy"]["ignore"]) == {"severity", "side"}

    def test_the_lead_gets_a_button_and_nobody_else(self, seeded: Seeded) -> None:
        button = 'data-attribute="severity"'
        page = f"/report/{NUMBER}"
        assert button in seeded.as_person("lead").get(page).text
        assert button not in seeded.as_person("reviewer").get(page).text
        file = seeded.client.get(f"{page}/report.html", query_string={"k": seeded.key("report")}).text
        assert button not in file and "<strong>Severity</strong> does not count" in file
        sign = {"reviewer": "Rae", "reviewer_id": "9", "known_by": "link"}
        seeded.reviews.say_uncounted(seeded.project, "number", task=101, **sign)
        assert "<strong>Number and measure</strong> do not count" in seeded.as_person("reviewer").get(page).text


@pytest.mark.parametrize(
    "wrong",
    [
        "/etc/passwd",
        "https://evil.example/policy.json",
        {"ignore": ["mood"]},
        {"measure": "llm-logprob:http://evil.example"},
        None,
        3,
    ],
)
def test_nothing_but_a_policy_is_taken(seeded: Seeded, wrong: Any) -> None:
    assert seeded.send("/api/policies", control="findings", policies=[wrong]).status_code == 400
    assert seeded.send("/api/policies/choice", policy=wrong).status_code == 400
    assert seeded.send("/api/policies", control="other", policies=[]).status_code == 404
    assert seeded.send("/api/policies", control="findings", policies=[{}] * (policies.MOST + 1)).status_code == 400
    assert seeded.row["chosen"] == {} and PolicyStore(seeded.store).wanted(seeded.project) == []


def test_a_measure_that_fails_says_so(seeded: Seeded) -> None:
    shown = look(seeded, settings=ProjectSettings(measure="nli:/no/such/model"))
    assert shown["rows"] == [] and "/no/such/model" in shown["error"]


@pytest.mark.slow
def test_the_scorer_process_computes_it_and_the_page_shows_it(seeded: Seeded) -> None:
    seeded.send("/api/policies", control="findings", policies=[])
    assert report(seeded)["waiting"] and report(seeded)["rows"] == []
    seeded.work(EXACT)
    text = seeded.get(f"/report/{NUMBER}").text
    assert "<strong>texts as written</strong>" in text
    assert "clinical finding, any severity: severity does not count" in text and "choose-policy" in text
    seeded.client.delete_cookie(f"softirr-access-{NUMBER}")
    read_only = seeded.as_person("reviewer").get(f"/report/{NUMBER}").text
    assert "severity does not count" in read_only and "choose-policy" not in read_only
    file = seeded.get(f"/report/{NUMBER}/report.html").text
    assert "severity does not count" in file and 'class="choose-policy"' not in file


def test_a_row_says_that_the_judgments_are_not_used(seeded: Seeded) -> None:
    """An answer that was judged has changed since, and the report warns of it, too."""
    audit = seeded.send("/api/audit", judgements=20, who="Rae").json["audit"]
    seeded.work(EXACT)
    assert seeded.send(f"/api/audit/{audit}/judgements", judge="Rae", places=[0], verdict="same").status_code == 201
    assert {row["judgments_lost"] for row in look(seeded)["rows"]} == {""}
    assert "without the" not in seeded.get(f"/report/{NUMBER}").text
    seeded.put(
        {task: {who: [text + " now" for text in texts] for who, texts in of.items()} for task, of in TASKS.items()}
    )
    seeded.score(measure="exact")
    lost = {row["judgments_lost"] for row in look(seeded)["rows"]}
    assert len(lost) == 1 and lost.pop().startswith("The judgments are not used: ")
    text = seeded.get(f"/report/{NUMBER}").text
    assert " ".join(text.split()).count("without the judgments</small>") == len(PRESETS)


def test_the_same_policy_is_looked_at_once() -> None:
    named = Policy("ours", ignore=frozenset({"severity"}))
    candidates = policies.candidates(AS_WRITTEN, named, [ANY_SEVERITY])
    assert [one.mark() for one in candidates].count("without severity") == 1
    assert candidates[0].mark() == "" and len(candidates) == len(PRESETS)


def test_rows_are_shown_as_they_are_ready(seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, bool, bool]] = []
    put = PolicyStore.put_part

    def watched(self: PolicyStore, wish: Any, result: Any) -> None:
        put(self, wish, result)
        shown = report(seeded)
        seen.append((len(shown["rows"]), shown["of"], shown["partial"], shown["waiting"]))

    monkeypatch.setattr(PolicyStore, "put_part", watched)
    shown = look(seeded)
    assert [ready for ready, *_ in seen] == list(range(1, len(shown["rows"]) + 1)) and len(seen) >= len(PRESETS)
    assert all(of == len(shown["rows"]) and waiting for _, of, _, waiting in seen)
    assert [partial for _, _, partial, _ in seen] == [True] * (len(seen) - 1) + [False]
    assert not shown["waiting"] and not shown["partial"]


class TestPreparing:
    """The scores that a look needs are made before anybody asks."""

    @pytest.fixture
    def asked(self, seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """What the scorer was asked for, by policy."""
        asked: list[str] = []
        original = seeded.services.scorer.under_settings

        def under_settings(answers: Any, control: str, settings: ProjectSettings, **options: Any) -> Any:
            asked.append(settings.policy.mark())
            return original(answers, control, EXACT, **options)

        monkeypatch.setattr(seeded.services.scorer, "under_settings", under_settings)
        return asked

    def prepare(self, seeded: Seeded, measure: str = "nli") -> None:
        policies.prepare(seeded.project_work(ProjectSettings(measure=measure)))

    def test_all_candidates_of_a_model_are_scored_and_nothing_is_shown(self, seeded: Seeded, asked: list[str]) -> None:
        self.prepare(seeded)
        assert asked == [one.mark() for one in policies.candidates(AS_WRITTEN, None, ())]
        assert PolicyStore(seeded.store).get(seeded.project, "findings") is None

    @pytest.mark.parametrize("measure", ["indel", "llm-logprob:served"])
    def test_not_where_it_saves_nothing_or_asks_elsewhere(self, seeded: Seeded, asked: list[str], measure: str) -> None:
        self.prepare(seeded, measure)
        assert asked == []

    def test_not_for_a_large_project(self, seeded: Seeded, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(policies, "PREPARED", 3)
        self.prepare(seeded)
        assert asked == []

    def test_not_for_fields_that_are_compared_exactly(self, seeded: Seeded, asked: list[str]) -> None:
        summary = seeded.row["summary"]
        exact = {name: {**report, "provenance": {"kind": "nominal"}} for name, report in summary["controls"].items()}
        seeded.update(summary={**summary, "controls": exact})
        self.prepare(seeded)
        assert asked == []

    def test_a_request_ends_it(self, seeded: Seeded, asked: list[str]) -> None:
        seeded.send("/api/policies", control="findings", policies=[])
        self.prepare(seeded)
        assert len(asked) == 1
