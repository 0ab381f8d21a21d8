"""The alternative annotator test and equivalence, against plain loops over the paper's procedure and by simulation."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

import softirr
from softirr.errors import InputError
from softirr.report.alternative_annotator import LEAST_ITEMS, alternative_annotator
from softirr.report.charts import BAND
from softirr.report.scoring import open_scoring, scored
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.comparisons.difference import equivalence_p
from tests.report.rater_tables import Cli, Row, table_of, written

PEOPLE = ("ann", "ben", "cleo", "dev")
MODEL = "model:one"
LABELS = np.array(["fever", "cough", "rash", "nausea"])
AUTHORS_DATA = os.environ.get("SOFTIRR_ALT_TEST")
MT_BENCH = {
    "gemini_flash": "0.72",
    "gemini_pro": "0.76",
    "gpt-4o": "0.77",
    "llama-31": "0.69",
    "gpt-4o-mini": "0.74",
    "mistral-v03": "0.68",
}
"""Average advantage probabilities in the output of the authors' notebook, where each model's winning rate is 0.00."""


def answers(seed: int, n: int, accuracy: float, missing: float = 0.0) -> dict[str, dict[str, str]]:
    """Labels by rater and item: people are right on 80% of the items, the model as often as asked."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    raters: dict[str, dict[str, str]] = {}
    for rater, right in (*((name, 0.8) for name in PEOPLE), (MODEL, accuracy)):
        label = np.where(rng.random(n) < right, truth, rng.integers(4, size=n))
        is_present = rng.random(n) >= missing
        raters[rater] = {str(i): str(LABELS[label[i]]) for i in range(n) if is_present[i]}
    return raters


def rows_of(raters: dict[str, dict[str, str]]) -> list[Row]:
    return [(item, rater, text) for rater, labels in raters.items() for item, text in labels.items()]


def published(
    raters: dict[str, dict[str, str]], epsilon: float, people: Collection[str] = PEOPLE
) -> tuple[float, float]:
    """Winning rate and average advantage probability of the paper (sections 3.1 to 3.3), with accuracy as the score."""
    model, labels_by_person = raters[MODEL], {name: raters[name] for name in people}
    p_values, advantages = [], []
    for name, person_labels in labels_by_person.items():
        model_wins, own_wins = [], []
        for item, label in person_labels.items():
            remaining_labels = [
                other_labels[item]
                for who, other_labels in labels_by_person.items()
                if who != name and item in other_labels
            ]
            if item not in model or not remaining_labels:
                continue
            of_model = np.mean([model[item] == remaining_label for remaining_label in remaining_labels])
            of_own = np.mean([label == remaining_label for remaining_label in remaining_labels])
            model_wins.append(float(of_model >= of_own))
            own_wins.append(float(of_own >= of_model))
        if len(model_wins) < LEAST_ITEMS:
            continue
        p_values.append(ttest_1samp(np.subtract(own_wins, model_wins), epsilon, alternative="less").pvalue)
        advantages.append(np.mean(model_wins))
    rejected = multipletests(p_values, alpha=0.05, method="fdr_by")[0]
    return float(np.mean(rejected)), float(np.mean(advantages))


def result_of(  # type: ignore[no-untyped-def]
    raters: dict[str, dict[str, str]], epsilon: float, people: Collection[str] = PEOPLE, measure: str = "exact"
):
    table = table_of(rows_of(raters))
    with open_scoring(measure, None, None, None) as scoring:
        return alternative_annotator(scored(scoring.answers(table), scoring.options), MODEL, people, epsilon)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(40, 120),
    accuracy=st.sampled_from([0.3, 0.6, 0.8, 0.95]),
    missing=st.sampled_from([0.0, 0.2]),
    epsilon=st.sampled_from([0.1, 0.15, 0.2]),
)
def test_labels_give_the_published_procedure(
    seed: int, n: int, accuracy: float, missing: float, epsilon: float
) -> None:
    raters = answers(seed, n, accuracy, missing)
    result = result_of(raters, epsilon)
    if result.undefined:
        assert missing > 0 and n < 80
        return
    rate, advantage = published(raters, epsilon)
    assert result.winning_rate == pytest.approx(rate, abs=1e-9)
    assert result.advantage.value == pytest.approx(advantage, abs=1e-9)


@pytest.mark.skipif(AUTHORS_DATA is None, reason="SOFTIRR_ALT_TEST is no clone of github.com/nitaytech/AltTest")
def test_the_authors_data_gives_their_numbers() -> None:
    """Their repository states no license, so its labels are read from a clone. Their notebook prints two digits."""
    folder = Path(str(AUTHORS_DATA)) / "data" / "mtbench"
    people = json.loads((folder / "human_annotations.json").read_text())
    models = json.loads((folder / "llm_annotations.json").read_text())
    assert set(models) == set(MT_BENCH)
    for name, labels in models.items():
        raters = {**people, MODEL: labels}
        result = result_of(raters, 0.2, tuple(people))
        assert (f"{result.winning_rate:.2f}", f"{result.advantage.value:.2f}") == ("0.00", MT_BENCH[name])
        assert (result.winning_rate, result.advantage.value) == pytest.approx(
            published(raters, 0.2, tuple(people)), abs=1e-9
        )


def test_a_good_model_passes_and_a_bad_one_does_not() -> None:
    good, bad = result_of(answers(1, 100, 0.95), 0.15), result_of(answers(1, 100, 0.3), 0.15)
    assert good.passed and good.advantage.value > 0.8 and "passes the alternative annotator test" in good.sentence
    assert bad.passed is False and bad.winning_rate == 0 and "does not pass" in bad.sentence


def test_soft_equivalence_counts() -> None:
    """A model that writes 'fevers' for 'fever' nearly agrees, which a score of letters sees."""
    raters = answers(3, 60, 1.0)
    raters[MODEL] = {item: text + "s" for item, text in raters[MODEL].items()}
    soft = result_of(raters, 0.15, measure="indel")
    assert soft.advantage.value is not None and 0 < soft.advantage.value < 1
    assert soft.advantage.ci95 is not None and soft.advantage.ci95[0] < soft.advantage.value < soft.advantage.ci95[1]


def test_too_few_annotators_or_items_is_a_reason() -> None:
    raters = answers(1, 100, 0.9)
    of_two_people = result_of({name: raters[name] for name in ("ann", "ben", MODEL)}, 0.15, ("ann", "ben"))
    assert of_two_people.winning_rate is None and "2 annotators, but at least 3" in str(of_two_people.undefined)
    assert "needs more data" in of_two_people.sentence and of_two_people.to_dict()["passed"] is None
    short = result_of(answers(1, LEAST_ITEMS - 1, 0.9), 0.15)
    assert short.passed is None and short.skipped == PEOPLE
    with pytest.raises(InputError, match="epsilon is 1"):
        result_of(raters, 1.0)


@pytest.mark.slow
def test_the_interval_of_the_advantage_covers_it() -> None:
    truth = np.mean([result_of(answers(seed, 400, 0.8), 0.15).advantage.value for seed in range(20)])
    n_covered = 0
    for seed in range(100, 200):
        low, high = result_of(answers(seed, 60, 0.8), 0.15).advantage.ci95
        n_covered += low <= truth <= high
    assert n_covered >= 88, "a binomial count of 100 at 95%: at least 88 with a probability of 99.5%"


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 60), shift=st.floats(-0.2, 0.2))
def test_equivalence_is_two_one_sided_t_tests(seed: int, n: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(shift, 0.3, n)
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(n)
    from scipy.stats import t

    reach = t.ppf(0.975, n - 1) * error
    change = Coefficient(mean, error, (mean - reach, mean + reach))
    expected = ttost_paired(values, np.zeros(n), -0.1, 0.1)[0]
    assert equivalence_p(change, n, 0.1) == pytest.approx(expected, abs=1e-9)


def test_at_the_margin_equivalence_is_claimed_in_5_percent() -> None:
    rng = np.random.default_rng(0)
    claimed = 0
    for _ in range(2_000):
        values = rng.normal(0.1, 0.3, 40)
        mean, error = values.mean(), values.std(ddof=1) / np.sqrt(40)
        change = Coefficient(mean, error, (mean - 2.0227 * error, mean + 2.0227 * error))
        claimed += equivalence_p(change, 40, 0.1) < 0.05
    assert claimed <= 130, "5% of 2,000 are 100; 130 is exceeded with a probability of 0.2%"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    raters = answers(5, 100, 0.95)
    raters["model:bad"] = answers(6, 100, 0.2)[MODEL]
    return Path(written(tmp_path / "answers.csv", rows_of(raters)))


@pytest.mark.slow
def test_the_command_gives_verdict_and_exit_status(csv: Path, cli: Cli) -> None:
    command = ["compare", str(csv), "--measure", "exact", "--models"]
    result = cli(*command, MODEL, "model:bad", "--json")
    tests = {entry["model"]: entry for entry in result["alternative_annotator"]}
    assert tests[MODEL]["passed"] is True and tests["model:bad"]["passed"] is False
    assert tests[MODEL]["epsilon"] == 0.15 and len(tests[MODEL]["annotators"]) == 4
    assert "passes the alternative annotator test (it wins against 4 of 4" in cli(*command, MODEL, "model:bad")
    cli(*command, MODEL, "model:bad", "--fail-unless", "passed", status=1)
    table = softirr.read(csv)
    table_with_model = table.part(raters=[*PEOPLE, MODEL])
    assert softirr.compare_models(table_with_model, [MODEL], "exact", epsilon=0.2).satisfies("passed")
    assert not softirr.compare_models(table, ["model:bad"], "exact").satisfies("within")


def test_models_need_no_names_in_a_table(csv: Path, cli: Cli) -> None:
    """Raters named model:NAME are models in any file."""
    outputs = {}
    for names in ([], [MODEL, "model:bad"]):
        outputs[len(names)] = cli("compare", str(csv), "--measure", "exact", "--models", *names, "--json")
    assert outputs[0] == outputs[2] and len(outputs[0]["differences"]) == 2


def test_the_chart_shades_the_range_of_the_others(csv: Path) -> None:
    comparison = softirr.compare_models(softirr.read(csv), [MODEL, "model:bad"], "exact")
    values = [group.coefficient.value for group in comparison.others]
    assert comparison.others_range == (min(values), max(values))
    svg = comparison.to_svg()
    assert svg.count(BAND) == 1 and svg.count('fill-opacity="0.16"') == 1, "not behind the differences"
    assert f"{MODEL} − others<" in svg
    assert replace(comparison, others=()).others_range is None
    assert BAND not in replace(comparison, others=()).to_svg()
