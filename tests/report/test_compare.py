"""Comparing files, measures, policies, and models with people: from the command line and from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softirr
from softirr.report.evidence import estimated
from softirr.report.scoring import open_scoring, scored
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.comparisons.groups import Difference, verdict, with_adjusted_intervals
from tests.report.rater_tables import PEOPLE, Cli, exported, rows_of, table_of, written

GOOD, BAD = {"ann": 0.95, "bob": 0.95}, {"ann": 0.5, "bob": 0.5}


class TestFiles:
    def test_other_items_are_compared_as_independent(self, tmp_path: Path, cli: Cli) -> None:
        a, b = written(tmp_path / "v1.csv", rows_of(60, BAD)), written(tmp_path / "v2.csv", rows_of(60, GOOD, 1, 500))
        result = cli("compare", a, b, "--measure", "exact", "--json")
        assert result["paired"] is False
        assert result["difference"]["value"] == pytest.approx(result["b"]["value"] - result["a"]["value"])
        assert result["difference"]["ci95"][0] > 0 and result["differences"][0]["p"] < 0.001

    def test_every_key_of_the_json_object_is_documented(self, root: Path) -> None:
        comparison = softirr.compare([table_of(rows_of(9, GOOD)), table_of(rows_of(9, BAD))], "exact").to_dict()
        page = (root / "docs/reference/json.md").read_text().split("## A comparison")[1]
        keys = {*comparison, *comparison["groups"][0], *comparison["differences"][0]} - {
            "schema_version",
            *comparison["difference"],
        }
        assert [key for key in keys if f"`{key}`" not in page] == []

    def test_output_names_the_policy(self, tmp_path: Path, cli: Cli) -> None:
        a, b = written(tmp_path / "a.csv", rows_of(9, GOOD)), written(tmp_path / "b.csv", rows_of(9, BAD))
        assert "What counts as the same: " in cli("compare", a, b, "--measure", "exact", "--ignore", "side")

    def test_the_same_items_are_paired_and_narrower(self, tmp_path: Path, cli: Cli) -> None:
        rows = rows_of(60, {"ann": 0.9, "bob": 0.5})
        a = written(tmp_path / "v1.csv", rows)
        b = written(tmp_path / "v2.csv", [(i, r, "pain" if int(i) < 5 else t) for i, r, t in rows])
        widths = []
        for option in ([], ["--independent"]):
            result = cli("compare", a, b, "--measure", "exact", "--json", *option)
            widths.append(np.diff(result["difference"]["ci95"])[0])
        assert widths[0] < widths[1] / 2

    def test_file_differs_from_itself_by_zero(self, tmp_path: Path, cli: Cli) -> None:
        path = written(tmp_path / "v1.csv", rows_of(20, BAD))
        result = cli("compare", path, path, "--measure", "exact", "--json")
        assert result["difference"]["value"] == 0 and result["difference"]["ci95"] == [0, 0]

    def test_notes_on_the_answers_of_each_file_are_shown(self, tmp_path: Path, cli: Cli) -> None:
        rows = [*rows_of(9, GOOD), ("1000", "ann", "n/a")]
        paths = [written(tmp_path / name, rows) for name in ("a.csv", "b.csv")]
        paths.append(written(tmp_path / "c.csv", rows_of(9, BAD)))
        note = "1 text counts as a missing answer"
        for files, start in ((paths[:2], note), (paths, f"a.csv, b.csv: {note}")):
            warnings = cli("compare", *files, "--measure", "exact", "--json")["warnings"]
            (warning,) = (warning for warning in warnings if note in warning)
            assert warning.startswith(start) and "--missing none" in warning

    def test_files_of_one_name_are_all_compared(
        self, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "old").mkdir()
        monkeypatch.chdir(tmp_path)
        for path, right in (("old/a.csv", GOOD), ("a.csv", BAD), ("b.csv", GOOD)):
            written(Path(path), rows_of(9, right))
        result = cli("compare", "old/a.csv", "a.csv", "b.csv", "--measure", "exact", "--json")
        assert [group["label"] for group in result["groups"]] == ["old/a.csv", "a.csv", "b.csv"]

    def test_output_states_the_conclusion(self, tmp_path: Path, cli: Cli) -> None:
        a, b = written(tmp_path / "v1.csv", rows_of(20, BAD)), written(tmp_path / "v2.csv", rows_of(20, BAD, 7))
        output = cli("compare", a, b, "--measure", "exact", "--paired")
        assert "not audited" in output and "on 20 shared items. The items do not show a difference." in output
        assert "Fewer than 30 items in v1.csv, v2.csv: the intervals are approximate." in output

    def test_three_files_have_three_adjusted_differences(self) -> None:
        tables = {name: table_of(rows_of(40, BAD, n, 100 * n)) for n, name in enumerate("xyz")}
        comparison = softirr.compare(tables, "exact")
        assert comparison.adjusted == "holm"
        assert [(difference.a, difference.b) for difference in comparison.differences] == [
            ("x", "y"),
            ("x", "z"),
            ("y", "z"),
        ]
        assert all((difference.p_adjusted or 0) >= (difference.p or 0) for difference in comparison.differences)
        assert "The intervals and p are adjusted for 3 differences" in str(comparison)
        unadjusted = softirr.compare(tables, "exact", adjust=False)
        for difference, single in zip(comparison.differences, unadjusted.differences, strict=True):
            (low, high), (inner_low, inner_high) = (
                difference.difference.ci95 or (0, 0),
                single.difference.ci95 or (0, 0),
            )
            assert low <= inner_low < inner_high <= high and difference.difference.value == single.difference.value
            assert (low <= 0 <= high) == ((difference.p_adjusted or 0) >= 0.05)
        assert any(
            difference.difference != single.difference
            for difference, single in zip(comparison.differences, unadjusted.differences, strict=True)
        )

    def test_a_judged_sheet_corrects_its_table(self) -> None:
        a = table_of(rows_of(40, BAD))
        b = table_of((item, rater, f"severe {text}") for item, rater, text in rows_of(40, BAD, 3, 100))
        sheet = softirr.audit.draw_sheet(a, "indel", judgments=60).to_csv().splitlines()
        import io

        from softirr.answers.sheets import read_sheet

        judged = read_sheet(io.StringIO("\n".join([sheet[0], *(f"{line}different" for line in sheet[1:])])))
        comparison = softirr.compare({"a": a, "b": b}, "indel", judgments=[judged])
        assert [group.audited for group in comparison.groups] == [True, False]
        with open_scoring("indel", None, None, None) as scoring:
            estimates = estimated(scored(scoring.answers(a), scoring.options), [judged])
        assert estimates.posterior is not None
        draws = estimates.posterior.draws["krippendorff_alpha"]
        assert estimates.sample_of("krippendorff_alpha").draws is draws
        assert any("Some coefficients are audited" in warning for warning in comparison.warnings)


class TestMeasuresAndPolicies:
    def test_measures_are_compared_on_the_same_items(self, tmp_path: Path, cli: Cli) -> None:
        path = written(tmp_path / "a.csv", rows_of(40, BAD))
        result = cli("compare", path, "--measures", "exact", "indel", "--json")
        assert (result["compared"], result["measure"], result["paired"]) == ("measures", "exact, indel", True)
        for group in result["groups"]:
            krippendorff_alpha = softirr.agreement(softirr.read(path), group["label"]).coefficients[
                "krippendorff_alpha"
            ]
            assert group["value"] == krippendorff_alpha.value

    def test_policies_are_those_of_agreement(self, tmp_path: Path, cli: Cli) -> None:
        rows = [
            (str(i), who, f"{severity} {text}")
            for i in range(8)
            for who, severity in (("ann", "mild"), ("bob", "severe"))
            for text in [("fever", "cough", "rash", "pain")[i % 4]]
        ]
        path = written(tmp_path / "a.csv", rows)
        result = cli("compare", path, "--policies", "as-written", "any-severity", "--measure", "exact", "--json")
        assert result["compared"] == "policies"
        values = [group["value"] for group in result["groups"]]
        for policy, value in zip(("as-written", "any-severity"), values, strict=True):
            report = softirr.agreement(softirr.read(path), "exact", policy=policy)
            assert value == report.coefficients["krippendorff_alpha"].value
        assert values[1] == 1.0 and values[0] < 0.1

    def test_a_policy_that_changes_no_pair_changes_nothing(self) -> None:
        comparison = softirr.compare(table_of(rows_of(40, BAD)), "indel", policies=["as-written", "any-severity"])
        assert comparison.differences[0].difference.value == 0.0
        assert "texts as written" not in str(comparison)  # true of one of the two only

    def test_several_tables_have_one_measure(self) -> None:
        with pytest.raises(softirr.InputError, match="one table, not on several"):
            softirr.compare([table_of(rows_of(4, BAD))] * 2, measures=["exact", "indel"])


class TestModels:
    def test_a_model_like_people_a_bad_one_and_one_of_few_items(self) -> None:
        table = table_of(rows_of(800, {**PEOPLE, "model:good": 0.85, "model:bad": 0.3}))
        comparison = softirr.compare_models(table, measure="exact")
        verdicts = {difference.b: difference.verdict for difference in comparison.differences}
        assert str(verdicts["model:good"]).startswith("equivalent to the others")
        assert verdicts["model:bad"] == "below the others"
        assert {group.label for group in comparison.others} == set(PEOPLE)
        of_few_items = softirr.compare_models(table_of(rows_of(30, {**PEOPLE, "model:good": 0.8})), measure="exact")
        assert str(of_few_items.differences[0].verdict).startswith("can't tell yet: about ")

    def test_it_is_the_mean_over_pairs_on_the_same_items(self) -> None:
        rows = [
            row for row in rows_of(50, {**PEOPLE, "model:x": 0.7}) if not (row[1] == "model:x" and int(row[0]) >= 40)
        ]
        comparison = softirr.compare_models(table_of(rows), measure="exact")
        kept_rows = [row for row in rows if int(row[0]) < 40]
        report = softirr.agreement(table_of(kept_rows), "exact")
        pairs = {pair.raters: pair.cohen_kappa.value for pair in report.rater_pairs}
        people = np.mean([v for k, v in pairs.items() if "model:x" not in k])
        model = np.mean([v for k, v in pairs.items() if "model:x" in k])
        assert [group.coefficient.value for group in comparison.groups] == pytest.approx([people, model])
        assert comparison.differences[0].n_shared == 40

    def test_predictions_of_an_export(self, tmp_path: Path, cli: Cli) -> None:
        path = exported(tmp_path / "export.json", rows_of(40, {**PEOPLE, "model:m1": 0.8}))
        output = cli("compare", path, "--models", "--measure", "exact")
        assert "model:m1 minus others" in output and "not audited" in output and "Each of the others" in output
        assert cli("compare", path, "--models", "model:m1", "--measure", "exact") == output
        refusal = cli("compare", path, "--models", "m1", "--measure", "exact", status=2)
        assert "No rater is named 'm1'; there are model:m1, ann, bob, cid: name those that are models." in refusal

    def test_models_of_a_csv_file_are_named(self, tmp_path: Path, cli: Cli) -> None:
        path = written(tmp_path / "a.csv", rows_of(60, {**PEOPLE, "gpt": 0.8, "small": 0.2}))
        result = cli("compare", path, "--models", "gpt", "small", "--measure", "exact", "--json")
        assert [difference["b"] for difference in result["differences"]] == ["gpt", "small"] and result[
            "adjusted"
        ] == "holm"

    @pytest.mark.parametrize(
        ("value", "low", "high", "expected"),
        [
            (0.0, -0.05, 0.05, "within"),
            (-0.04, -0.2, 0.12, "can't tell yet: about 1,500 more items"),
            (0.0, -10.0, 10.0, "would hardly help"),
            (-0.2, -0.41, 0.01, "can't tell yet: about 11 more items"),
        ],
    )
    def test_verdicts_follow_from_the_interval(self, value: float, low: float, high: float, expected: str) -> None:
        difference = Difference("others", "m", Coefficient(value, 0.1, (low, high)), None, None, 100)
        assert expected in str(verdict(difference, 0.05))


class TestSeveralModels:
    def test_no_verdict_is_wrong_in_95_percent(self) -> None:
        """Eight models, four as good as people and four that are just out of their range.

        Without adjustment a wrong verdict is likely.
        """
        rng, margin, error, runs = np.random.default_rng(5), 0.05, 0.02, 400
        true = [0.0] * 4 + [-margin] * 4

        def wrong(differences: list[Difference]) -> bool:
            verdicts = [str(verdict(difference, margin)) for difference in differences]
            return any(verdict_text == "below the others" for verdict_text in verdicts[:4]) or any(
                entry.startswith("within") for entry in verdicts[4:]
            )

        n_unadjusted = together = 0
        for _ in range(runs):
            values = rng.normal(true, error).tolist()
            given_differences = [
                Difference(
                    "others", str(i), Coefficient(v, error, (v - 1.96 * error, v + 1.96 * error)), None, None, 10_000
                )
                for i, v in enumerate(values)
            ]
            n_unadjusted += wrong(given_differences)
            together += wrong(with_adjusted_intervals(given_differences, margin))
        assert n_unadjusted / runs > 0.12 and together / runs < 0.05 + 2 * 0.011

    def test_verdicts_are_adjusted_for_the_number_of_models(self) -> None:
        rows = rows_of(300, {**PEOPLE, "model:a": 0.85, "model:b": 0.75, "model:c": 0.2})
        comparison = softirr.compare_models(table_of(rows), measure="exact")
        by_model = {difference.b: difference for difference in comparison.differences}
        for entry in by_model.values():
            assert entry.difference.ci95 is not None and "ci95_adjusted" not in entry.to_dict()
        assert by_model["model:c"].verdict == "below the others" and (by_model["model:c"].p_adjusted or 0) < 0.05
        assert "adjusted interval" not in str(comparison) and "with a probability of 95% none of them is wrong" in str(
            comparison
        )
        single_model = softirr.compare_models(
            table_of([row for row in rows if row[1] not in ("model:b", "model:c")]), measure="exact"
        )
        assert "adjusted" not in str(single_model)
        without = softirr.compare_models(table_of(rows), measure="exact", adjust=False)
        for difference in without.differences:
            ci95, wider = difference.difference.ci95, by_model[difference.b].difference.ci95
            assert ci95 is not None and wider is not None and wider[0] <= ci95[0] and wider[1] >= ci95[1]
            assert wider != ci95
        assert "The verdicts are not adjusted for 3 comparisons." in without.warnings
