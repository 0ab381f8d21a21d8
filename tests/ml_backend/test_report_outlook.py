"""The report page says what would narrow the interval of its headline."""

from __future__ import annotations

from typing import Any

import pytest

from ml_backend.report.headline import headline_of
from ml_backend.settings import Settings
from softirr.report.page.sentences import TASKS, headline_sentence


def _project(half: float, judgments: int = 0, items: float = 0.01) -> dict[str, Any]:
    coefficient = {
        "value": 0.5,
        "standard_error": half / 2,
        "ci95": [0.5 - half, 0.5 + half],
        "judgments": judgments,
        "undefined": None,
        "details": {"items_only": {"standard_error": items}, "by_measure": 0.45},
    }
    names = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
    summary = {
        "raters": [{"agreement": 0.5}] * 3,
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


def _next(project: dict[str, Any], n: int = 40, to_judge: int | None = None) -> str:
    row = {"agreement": 0.5, "places": [], "raters": ["ann", "ben"], "to_judge": to_judge}
    return str(headline_of(project, "findings", [row] * n)["next"])


def test_first_judgments() -> None:
    assert "Next: judge 30 pairs of texts. The interval narrows from ±0.25 to about" in _next(_project(0.25))


def test_more_judgments() -> None:
    assert "Next: to reach ±0.05, judge about" in _next(_project(0.1, 60))


def test_more_tasks() -> None:
    sentence = _next(_project(0.1, 60, items=0.04))
    assert (
        "annotate about 89 more tasks and judge about 330 more pairs" in sentence
        and "More judgments alone are not enough." in sentence
    )


def test_no_more_judgments_than_pairs() -> None:
    assert "Next: judge the other 20 pairs of texts." in _next(_project(0.1, 60), to_judge=2)


def test_values_that_are_compared_exactly_are_not_judged() -> None:
    project = _project(0.25)
    project["summary"]["controls"]["findings"]["provenance"] = {"kind": "nominal"}
    assert "annotate about" in _next(project) and "judg" not in _next(project)


def test_few_tasks() -> None:
    assert "Next: annotate more tasks. With 5 tasks the interval is rough" in _next(_project(0.1), 5)


@pytest.mark.parametrize(
    ("value", "interval", "begins"),
    [
        (
            0.2,
            (0.1, 0.3),
            "Annotators agree beyond chance: average agreement is 0.50, and chance alone would give 0.10",
        ),
        (0.2, (-0.04, 0.58), "It is not clear yet whether annotators agree beyond chance: average"),
        (-0.01, (-0.12, 1.0), "It is not clear yet whether annotators agree beyond chance: average"),
        (-0.1, (-0.3, 0.1), "It is not clear yet whether annotators agree beyond chance: average"),
        (-0.2, (-0.3, -0.1), "Annotators agree no more than chance: average"),
        (-0.2, (-0.3, 0.0), "Annotators agree no more than chance: average"),
        (-0.2, None, "Annotators agree no more than chance: average"),
    ],
)
def test_what_is_said_of_chance_follows_from_the_interval(
    value: float, interval: tuple[float, float] | None, begins: str
) -> None:
    summary = {
        "raters": [{"agreement": 0.5}] * 4 + [{"agreement": None}],
        "coefficients": {"observed_agreement": {"value": 0.5}},
        "expected_agreement": {"krippendorff": 0.1},
    }
    sentence = headline_sentence("krippendorff_alpha", {"value": value, "ci95": interval}, summary, 67, words=TASKS)
    assert sentence.startswith(begins)
    assert "over 67 tasks answered by 4 annotators" in sentence, "the fifth shares no task"


def test_a_page_does_not_offer_a_measure_that_needs_a_file() -> None:
    settings = Settings()
    assert settings.allows_measure("indel") and not settings.allows_measure("terminology")
