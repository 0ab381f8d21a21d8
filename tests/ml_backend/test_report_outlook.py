"""The report page says what would narrow the interval of its headline."""

from __future__ import annotations

from typing import Any

import pytest

from ml_backend.report.headline import headline_of
from ml_backend.settings import Settings
from softirr.report.page.sentences import TASKS, headline_sentence


def _project(error: float) -> dict[str, Any]:
    coefficient = {"value": 0.5, "standard_error": error, "ci95": [0.5 - 2 * error, 0.5 + 2 * error], "undefined": None}
    names = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
    summary = {
        "n_raters": 3,
        "coefficients": dict.fromkeys(names, coefficient),
        "expected_agreement": {"cohen": 0.1, "fleiss": 0.1, "krippendorff": 0.1},
        "headline": {"without": []},
    }
    return {
        "summary": {"controls": {"findings": summary}},
        "raters": {},
        "connection": None,
        "extra_params": None,
        "chosen": {},
        "settings": {},
    }


def test_more_tasks() -> None:
    rows = [{"agreement": 0.5}] * 40
    said = headline_of(_project(0.05), "findings", rows, None)["sentence"]
    assert "These 40 tasks suggest: about 114 more tasks bring ±0.05 if the measure makes no errors" in said


def test_more_judgements() -> None:
    audited = {"value": 0.5, "standard_error": 0.05, "ci95": [0.4, 0.6], "undefined": None}
    result = {
        **_project(0.05)["summary"]["controls"]["findings"],
        "coefficients": {"krippendorff_alpha": audited, "observed_agreement": audited},
        "audit": {"judgements": 60, "units": 60, "judges": 1, "needed_for_width": {"0.1": 95}, "plain": {}},
    }
    said = headline_of(_project(0.05), "findings", [{"agreement": 0.5}] * 40, {"result": result})["sentence"]
    assert (
        "These 40 tasks suggest: about 35 more judgements bring ±0.05, or about 120 more tasks with 180 more judgements."
        in said
    )


def test_few_tasks_say_nothing() -> None:
    assert "suggest" not in headline_of(_project(0.05), "findings", [{"agreement": 0.5}] * 5, None)["sentence"]


@pytest.mark.parametrize(
    ("value", "interval", "begins"),
    [
        (
            0.2,
            (0.1, 0.3),
            "Annotators agree beyond chance: Krippendorff’s alpha is 0.20 (95% confidence: 0.10 to 0.30)",
        ),
        (
            0.2,
            (-0.04, 0.58),
            "Whether annotators agree beyond chance is not certain: Krippendorff’s alpha is 0.20 (95% confidence: −0.04 to 0.58)",
        ),
        (-0.1, (-0.3, 0.1), "Annotators agree no more than chance would have it: Krippendorff’s alpha is −0.10"),
    ],
)
def test_what_is_said_of_chance_follows_from_the_interval(
    value: float, interval: tuple[float, float], begins: str
) -> None:
    summary = {"n_raters": 4, "coefficients": {}, "expected_agreement": {}}
    assert headline_sentence(
        "krippendorff_alpha", {"value": value, "ci95": interval}, summary, 67, words=TASKS
    ).startswith(begins)


def test_a_page_does_not_offer_a_measure_that_needs_a_file() -> None:
    settings = Settings()
    assert settings.allows_measure("indel") and not settings.allows_measure("terminology")
