"""The sentence about a stored task, as the panel and the list of tasks show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.answers import texts_of
from ml_backend.web.panel_cards import sentence_field
from softirr.answers.labelstudio_results import readable_name
from softirr.numbers import plural
from softirr.report.task_sentence import LONGEST_SENTENCE, isolated, listed, task_sentence


def sentence_of(
    task: Mapping[str, Any], names: Mapping[str, str], decisions: Sequence[Mapping[str, Any]], *, threshold: float
) -> str:
    """Return one sentence of at most `LONGEST_SENTENCE` characters about the field with the lowest agreement.

    Parameters
    ----------
    task : mapping
        A scored row of the store, with ``answers`` and ``details``.
    names : mapping
        Display names of the annotators.
    decisions : sequence of mapping
        Reviewers' decisions on the task's texts.
    """
    controls = task["details"]["controls"]
    scored = {name: entry for name, entry in controls.items() if entry["agreement"] is not None}
    texts = {name: entry for name, entry in texts_of(task["answers"]).items() if name in scored}
    if not texts:
        return _values_sentence([name for name, entry in scored.items() if entry["agreement"] < 1])
    name = min(texts, key=lambda name: scored[name]["agreement"])
    field = sentence_field(texts[name], scored[name], decisions)
    sentence = task_sentence(field, names, threshold=threshold)
    prefix = f"{isolated(readable_name(name))}: " if len(texts) > 1 else ""
    return f"{prefix}{sentence}" if len(prefix) + len(sentence) <= LONGEST_SENTENCE else sentence


def _values_sentence(differing: Sequence[str]) -> str:
    """Return the sentence about a task without texts, from the names of the fields in which values differ."""
    if not differing:
        return "All annotators agree."
    sentence = f"The annotators differ in {listed([isolated(readable_name(name)) for name in differing])}."
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    return f"The annotators differ in {plural(len(differing), 'field')}."
