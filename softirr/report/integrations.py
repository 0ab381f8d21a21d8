"""softirr inside other tools.

A metric for evaluation harnesses, a scorer for scikit-learn, and the custom metric of Label Studio Enterprise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from softirr.answers.labelstudio import label_studio_answers, text_controls
from softirr.answers.rows import texts_of_cell
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.plural import plural
from softirr.report.agreement import agreement, item_agreement

__all__ = ["Metric", "enterprise_metric", "metric", "scorer"]

_OURS, _THEIRS = "prediction", "reference"


class Metric:
    """Equivalence of predicted and true answers, called as evaluation harnesses call their metrics.

    Made by :func:`softirr.metric`. An answer is a text, or a list of texts: a set.
    """

    def __init__(self, measure: str | Measure, *, casefold: bool = False) -> None:
        self._measure, self._casefold = measure, casefold
        self._predictions: list[Any] = []
        self._references: list[Any] = []

    def __call__(self, prediction: Any, references: Any) -> float:
        """Equivalence of one answer and its reference; of several references, as a tuple, the best."""
        several = references if isinstance(references, tuple) else (references,)
        if not several:
            raise InputError("There is no reference to compare with.")
        return max(self._scores([prediction] * len(several), several))

    def score(self, references: Iterable[Any], predictions: Iterable[Any]) -> float:
        """Mean equivalence, with the arguments in the order of ``sklearn.metrics``: true answers first."""
        scores = self._scores(predictions, references)
        if not scores:
            raise InputError("There are no answers to compare.")
        return fmean(scores)

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Keep an answer and its reference for :meth:`compute`."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        """Keep answers and their references for :meth:`compute`."""
        self._predictions += predictions
        self._references += references

    def compute(
        self, *, predictions: Sequence[Any] | None = None, references: Sequence[Any] | None = None
    ) -> dict[str, Any]:
        """The results of what was added, or of these answers.

        Parameters
        ----------
        predictions, references : sequence, optional

        Returns
        -------
        dict
            ``equivalence`` is the mean, ``equivalences`` the value of each answer, and ``cohen_kappa`` the agreement
            beyond chance, None where it is not defined.
        """
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions or (), references=references or ())
        theirs, ours = self._references, self._predictions
        self._references, self._predictions = [], []
        report = agreement(self._table(ours, theirs), self._measure, reasons=False, progress=None)
        scores = [item.agreement for item in report.items if item.agreement is not None]
        return {
            "equivalence": fmean(scores) if scores else None,
            "equivalences": scores,
            "cohen_kappa": report.coefficients["cohen_kappa"].value,
        }

    def _scores(self, predictions: Iterable[Any], references: Iterable[Any]) -> list[float]:
        items = item_agreement(self._table(list(predictions), list(references)), self._measure, progress=None)
        return [item.agreement for item in items if item.agreement is not None]

    def _table(self, predictions: Sequence[Any], references: Sequence[Any]) -> AnnotationTable:
        if len(predictions) != len(references):
            raise InputError(
                f"{plural(len(predictions), 'prediction')} and {plural(len(references), 'reference')} were given: "
                "each needs the other."
            )
        answers = [
            Answer(str(n), rater, texts_of_cell(value, f"The {rater} number {n}") or ())
            for rater, values in ((_OURS, predictions), (_THEIRS, references))
            for n, value in enumerate(values)
        ]
        items = map(str, range(len(predictions)))
        return AnnotationTable.from_answers(answers, items=items, casefold=self._casefold)


def metric(measure: str | Measure = DEFAULT_MEASURE, *, casefold: bool = False) -> Metric:
    """A metric for evaluation harnesses: how far predicted answers mean what the references mean.

    It has ``compute(predictions=, references=)``, ``add`` and ``add_batch`` like a metric of Hugging Face's evaluate,
    is called with one prediction and its reference where a harness scores samples, as inspect_ai does, and
    ``score(references, predictions)`` fits ``sklearn.metrics.make_scorer``.

    Parameters
    ----------
    measure : str or Measure
        Equivalence of two texts.
    casefold : bool
        Texts that differ only in case are one text.

    Returns
    -------
    Metric

    Examples
    --------
    >>> found = metric("indel")
    >>> round(found("high fever", "fever"), 2)
    0.67
    >>> found(["cough", "fever"], ["fever", "cough"])
    1.0
    >>> round(found.compute(predictions=["fever", "rash"], references=["fevers", "rash"])["equivalence"], 2)
    0.95
    """
    return Metric(measure, casefold=casefold)


def scorer(measure: str | Measure = DEFAULT_MEASURE, *, casefold: bool = False) -> Callable[[Any, Any, Any], float]:
    """A scorer as scikit-learn takes it in ``scoring=``.

    The mean equivalence of what an estimator predicts and the true answers.

    Parameters
    ----------
    measure : str or Measure
        Equivalence of two texts.
    casefold : bool
        Texts that differ only in case are one text.

    Returns
    -------
    callable
        Takes an estimator, its input and the true answers.

    Examples
    --------
    >>> class Echo:
    ...     def predict(self, texts):
    ...         return texts
    >>> scorer("exact")(Echo(), ["fever", "rash"], ["fever", "itch"])
    0.5
    """
    one = Metric(measure, casefold=casefold)

    def score(estimator: Any, given: Any, answers: Any) -> float:
        return one.score(answers, estimator.predict(given))

    return score


def enterprise_metric(
    measure: str | Measure = DEFAULT_MEASURE, *, control: str | None = None, casefold: bool = False
) -> Callable[..., Any]:
    """The function of a custom agreement metric of Label Studio Enterprise.

    Its contract: ``agreement(annotation_1, annotation_2, per_label=False)`` with two annotations, or an annotation and
    a prediction, in Label Studio's JSON; it gives a number from 0 to 1, or with ``per_label`` an object, here with a
    number for each TextArea. The metric compares two annotations at a time, so it knows no agreement by chance: connect
    the project to the backend for coefficients.

    Parameters
    ----------
    measure : str or Measure
        Equivalence of two texts. Serverless functions are small: a measure without a model, such as ``indel``, fits
        them.
    control : str, optional
        The TextArea to compare; the mean over all if not given.
    casefold : bool
        Texts that differ only in case are one text.

    Returns
    -------
    callable

    Examples
    --------
    >>> agreement = enterprise_metric("indel")
    >>> def annotation(text):
    ...     return {"result": [{"type": "textarea", "from_name": "finding", "value": {"text": [text]}}]}
    >>> round(agreement(annotation("fever"), annotation("fevers")), 2)
    0.91
    """

    def score(annotation_1: Mapping[str, Any], annotation_2: Mapping[str, Any], per_label: bool = False) -> Any:
        both = [
            {"completed_by": number, "result": [_own(region) for region in given.get("result") or ()]}
            for number, given in enumerate((annotation_1, annotation_2))
        ]
        task = {"id": 0, "annotations": both}
        names = (control,) if control is not None else text_controls([task])
        by_control = {}
        for name in names:
            answers, _ = label_studio_answers(task, control=name)
            table = AnnotationTable.from_answers(answers, casefold=casefold)
            by_control[name] = float(item_agreement(table, measure, progress=None)[0].agreement or 0.0)
        if per_label:
            return by_control
        return fmean(by_control.values()) if by_control else 1.0  # neither has a text

    return score


def _own(region: Any) -> Any:
    """A result as if a person had written it: the metric also compares predictions and what was copied from them."""
    return {**region, "origin": "manual"} if isinstance(region, Mapping) else region
