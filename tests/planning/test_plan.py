"""Planning: predicted widths against projects that are carried out, and what the command says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import softirr
from lab.bench.differences import answers
from softirr.planning.variance_components import Components, assumed, components
from softirr.statistics.coefficients.intervals import standard_error
from softirr.statistics.coefficients.matrix import matrix_agreement
from tests.planning.examples import WORDS, Cli, table_of, written


def _pilot(path: Path, n: int = 40, raters: int = 3) -> str:
    lines = answers(np.random.default_rng(2), n, [0.8] * raters).tolist()
    return written(
        path,
        [
            (str(item), f"r{rater}", f"{WORDS[answer]} {(item + rater) % 3}")
            for item, line in enumerate(lines)
            for rater, answer in enumerate(line)
        ],
    )


class TestComponents:
    @pytest.mark.parametrize("raters", [2, 3, 4])
    def test_they_give_the_standard_error_of_the_pilot(self, raters: int) -> None:
        result = matrix_agreement(answers(np.random.default_rng(1), 80, [0.8] * raters))
        estimate = result.summary.coefficients["krippendorff_alpha"]
        assert result.chance is not None
        parts = components(result.ratings, result.scores, result.chance, estimate)
        assert parts.known == raters
        assert np.sqrt(parts.variance(raters) / 80) == pytest.approx(standard_error(estimate))

    def test_more_raters_never_make_it_worse(self) -> None:
        parts = Components(1.0, 0.4, 0.2, 4)
        values = [parts.variance(k) for k in range(2, 9)]
        assert values == sorted(values, reverse=True) and values[-1] > 0.2

    def test_independent_pairs_count_fully(self) -> None:
        assert Components(1.0, 0.0, 0.0, 4).variance(4) == pytest.approx(1 / 6)


class TestPlans:
    def test_the_choice_has_the_width_and_no_cheaper_one_does(self) -> None:
        plan = softirr.plan(value=0.6, chance=0.2, width=0.15)
        best = plan.best
        assert plan.predicted_width(best.items, best.raters, best.judgements) <= 0.15
        for items in range(max(best.items - 60, 20), best.items + 60, 5):
            judgements = next(
                n for n in range(1, 100_000) if plan.predicted_width(items, best.raters, n) <= 0.15 or n > 20_000
            )
            assert items * best.raters + 0.2 * judgements >= best.cost - 3

    def test_narrower_costs_more(self) -> None:
        costs = [softirr.plan(width=width).best.cost for width in (0.4, 0.2, 0.1)]
        assert costs == sorted(costs)

    def test_a_pilot(self, tmp_path: Path, cli: Cli) -> None:
        path, plot = _pilot(tmp_path / "pilot.csv"), tmp_path / "plan.svg"
        output = cli("plan", path, "--measure", "indel", "--width", "0.2", "--plot", str(plot))
        assert "Next: judge 29 pairs" in output and "Cheapest for ±0.1" in output and "cheapest\n" in output
        assert "a fourth one adds is assumed" in output
        ElementTree.fromstring(plot.read_text())

    @pytest.mark.parametrize("width", [0.1, 0.2, 0.25, 0.37])
    def test_the_widths_at_the_axis_are_evenly_spaced_as_written(self, width: float) -> None:
        figure = ElementTree.fromstring(softirr.plan(width=width).to_svg())
        labels = [text.text or "" for text in figure.iter() if text.get("text-anchor") == "end"]
        hundredths = [round(100 * float(text)) for text in labels]
        assert len(labels) == 5 and hundredths == [k * hundredths[1] for k in range(5)]

    def test_judged_sheets_tell_what_a_judgement_is_worth(self, tmp_path: Path, cli: Cli) -> None:
        path = _pilot(tmp_path / "pilot.csv")
        head, *rows = cli("audit", "sample", path, "--measure", "indel").splitlines()
        sheet = tmp_path / "sheet.csv"
        sheet.write_text("\n".join([head, *(f"{row}{('same', 'different')[n % 2]}" for n, row in enumerate(rows))]))
        result = cli("plan", path, "--measure", "indel", "--sheets", str(sheet), "--json")
        assert result["judgments"] > 0 and not any("worth is assumed" in note for note in result["notes"])
        report = cli("audit", "apply", path, str(sheet), "--measure", "indel", "--json")
        assert report["schema_version"] == result["schema_version"] == 2
        coefficient = report["coefficients"][result["coefficient"]]
        assert {key: result[key] for key in coefficient} == coefficient, "the plan has the number of the report"
        advice = cli("audit", "apply", path, str(sheet), "--measure", "indel").splitlines()[-1]
        assert result["sentence"] == advice and advice.startswith("Next: ")
        more = {
            one["raters"]: (one["items"] - 40, one["judgements"] - result["judgments"]) for one in result["choices"]
        }
        assert more[3][1] == 0 and advice.startswith(f"Next: to reach ±0.05, annotate about {more[3][0]:,} more items.")

    def test_without_a_pilot_only_the_value_is_assumed(self) -> None:
        plan = softirr.plan(value=0.6).to_dict()
        assert (plan["value"], plan["ci95"], plan["details"], plan["judgments"]) == (0.6, None, None, 0)

    def test_every_key_of_the_json_object_is_documented(self, root: Path) -> None:
        plan = softirr.plan().to_dict()
        page = (root / "docs/reference/json.md").read_text().split("## A plan")[1]
        keys = {*plan, *plan["best"], *plan["curve"][0]} - {"schema_version", *softirr.Coefficient(0.5).to_dict()}
        assert [key for key in keys if f"`{key}`" not in page] == []

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["--sheets", "x.csv"], "--sheets needs the file of the pilot"),
            (["pilot.csv", "--kappa", "0.5"], "--kappa and --expected are only for a plan"),
            (["--plot", "x.png"], "can be .svg or .html"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, words: list[str], why: str, cli: Cli) -> None:
        assert why in cli("plan", *words, status=2)

    def test_a_pilot_without_agreement_to_estimate(self) -> None:
        with pytest.raises(softirr.InputError, match="The coefficient of the pilot is not defined"):
            softirr.plan(table_of([("1", "a", "x"), ("2", "b", "y")]), "exact")


def test_assumptions_are_a_binary_kappa() -> None:
    assert assumed(0.6, 0.5).same == pytest.approx(0.8 * 0.2 / 0.25)
