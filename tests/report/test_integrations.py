"""softirr inside other tools, called as these call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softirr


class TestMetric:
    def test_compute_as_evaluate_calls_it(self) -> None:
        metric = softirr.metric("indel")
        answers = {
            "predictions": ["fever", "dry cough", ["rash", "itch"]],
            "references": ["fever", "cough", ["itch", "rash"]],
        }
        results = metric.compute(**answers)
        assert results["equivalences"] == pytest.approx([1.0, 10 / 14, 1.0])
        assert results["equivalence"] == pytest.approx(np.mean(results["equivalences"]))
        kappa = softirr.cohen_kappa(answers["predictions"], answers["references"], measure="indel")
        assert results["cohen_kappa"] == pytest.approx(kappa.value)
        metric.add_batch(predictions=answers["predictions"][:2], references=answers["references"][:2])
        metric.add(prediction=answers["predictions"][2], reference=answers["references"][2])
        assert metric.compute() == results
        assert metric.compute() == {"equivalence": None, "equivalences": [], "cohen_kappa": None}

    def test_a_sample_with_several_references_has_the_best(self) -> None:
        metric = softirr.metric("exact", casefold=True)
        assert metric("Fever", ("pyrexia", "fever")) == 1.0
        assert metric("", []) == 1.0
        assert metric("", "fever") == 0.0

    def test_what_is_refused(self) -> None:
        metric = softirr.metric("exact")
        with pytest.raises(softirr.InputError, match="2 predictions and 1 reference were"):
            metric.compute(predictions=["a", "b"], references=["a"])
        with pytest.raises(softirr.InputError, match="no reference"):
            metric("a", ())
        with pytest.raises(softirr.InputError, match="no answers"):
            metric.score([], [])
        with pytest.raises(softirr.InputError, match="reference number 0 has 5"):
            metric("a", 5)


def test_scikit_learn_takes_it() -> None:
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import cross_val_score

    given = np.zeros((8, 1))
    answers = np.array(["fever", "fever", "fever", "fevers"] * 2)
    model = DummyClassifier(strategy="most_frequent")
    for scoring in (softirr.scorer("indel"), make_scorer(softirr.metric("indel").score)):
        scores = cross_val_score(model, given, answers, cv=2, scoring=scoring)
        assert scores == pytest.approx([np.mean([1, 1, 1, 10 / 11])] * 2)


def annotation(*texts: str, **more: Any) -> dict[str, Any]:
    """As the documentation of the custom metric shows it."""
    result = [
        {
            "id": "r",
            "type": "textarea",
            "from_name": "finding",
            "to_name": "text",
            "value": {"text": list(texts)},
            **more,
        }
    ]
    return {"id": 1, "result": result if texts else [], "completed_by": 3, "was_cancelled": False}


class TestEnterprise:
    def test_two_annotations(self) -> None:
        agreement = softirr.enterprise_metric("exact")
        assert agreement(annotation("fever", "cough"), annotation("cough", "fever")) == 1.0
        assert agreement(annotation("fever", "cough"), annotation("fever")) == pytest.approx(2 / 3)
        assert agreement(annotation("fever"), annotation("rash")) == 0.0
        assert agreement(annotation(), annotation("rash")) == 0.0
        assert agreement(annotation(), annotation()) == 1.0

    def test_a_prediction(self) -> None:
        prediction = {"model_version": "m", "score": 0.5, "result": annotation("fever", origin="prediction")["result"]}
        assert softirr.enterprise_metric("exact")(annotation("fever"), prediction) == 1.0

    def test_per_label_and_control(self) -> None:
        first, second = annotation("fever"), annotation("fever")
        for region, text in ((first, "rest"), (second, "tea")):
            region["result"].append({"type": "textarea", "from_name": "plan", "value": {"text": text}})
            region["result"].append({"type": "choices", "from_name": "sure", "value": {"choices": ["yes"]}})
        agreement = softirr.enterprise_metric("exact")
        assert agreement(first, second, per_label=True) == {"finding": 1.0, "plan": 0.0}
        assert agreement(first, second) == 0.5
        assert softirr.enterprise_metric("exact", control="plan")(first, second) == 0.0
