"""Answers that annotators gave or changed after a reviewer sent their task back.

Their annotators know that a reviewer disagrees, so these answers are not independent. They count as other answers do;
the panel and the report name and count them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.answers.answer import MODEL, SKIPPED
from softirr.numbers import plural
from softirr.report.task_sentence import isolated

Hashes = dict[str, dict[str, str]]
"""Field -> annotator -> hash of the answer; empty if they skipped the task."""


def answer_hashes(task: Mapping[str, Any]) -> Hashes:
    """Return a hash of each annotator's answer to each field of a task.

    Parameters
    ----------
    task : mapping
        A row of the store: ``answers`` and ``facts``.
    """
    fields = {**((task["facts"] or {}).get("fields") or {}), **task["answers"]}
    return {name: _field_hashes(entry) for name, entry in fields.items()}


def _field_hashes(entry: Mapping[str, Any]) -> dict[str, str]:
    skipped = {str(rater): "" for rater, reason in entry.get("excluded", ()) if reason == SKIPPED}
    answers = {rater: _hash(texts) for rater, texts in entry["answers"].items() if not rater.startswith(MODEL)}
    return skipped | answers


def changed_raters(task: Mapping[str, Any], returns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the annotators who answered again after a reviewer sent the task back.

    Parameters
    ----------
    returns : iterable of mapping
        Acts that sent the task back. Acts of release 0.2.0 do not contain the answers and are ignored.
    """
    present = answer_hashes(task)
    changed = {
        rater
        for act in returns
        for name, then in act["content"].get("answers", {}).items()
        for rater, hash_then in then.items()
        if present.get(name, {}).get(rater, "") not in ("", hash_then)
    }
    return sorted(changed)


def names_sentence(raters: Sequence[str], names: Mapping[str, str]) -> str:
    """Return a sentence that names the annotators of a task who answered again; empty without any."""
    if not raters:
        return ""
    shown_names = ", ".join(isolated(names.get(rater, rater)) for rater in raters)
    return f"Answered again after a reviewer sent the task back: {shown_names}."


def count_sentence(changed: Mapping[int, Sequence[str]]) -> str:
    """Return a sentence that counts the answers of a project that changed after a task was sent back.

    Parameters
    ----------
    changed : mapping
        Task -> annotators (`changed_raters`).

    Examples
    --------
    >>> count_sentence({5: ["2"]})
    '1 answer was changed after a reviewer sent the task back: it counts, but it is not independent.'
    """
    n = sum(map(len, changed.values()))
    if not n:
        return ""
    consequence = "it counts, but it is not" if n == 1 else "they count, but they are not"
    return (
        f"{plural(n, 'answer was', 'answers were')} changed after a reviewer sent the task back: "
        f"{consequence} independent."
    )


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
