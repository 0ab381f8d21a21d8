"""Languages in which the bundled model was never measured: its matches there are not suggested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from softirr.meaning.measures.languages import ENGLISH, language_of_text
from softirr.meaning.measures.suitability import BUNDLED, language_record
from softirr.numbers import plural


def with_languages(details: dict[str, Any], measure: str) -> dict[str, Any]:
    """Return the details of a control of a task, with the number of texts in each language that was never measured.

    Different texts in such a language that the model matches are excluded from the suggestion.
    """
    if measure != BUNDLED:
        return details
    matched = {text for match in details["matches"] for text in match["texts"].values()}
    texts = matched.union(*details["unmatched"].values())
    unmeasured = {text: language for text in texts if (language := _unmeasured(text)) is not None}
    if not unmeasured:
        return details
    doubtful = {
        text
        for match in details["matches"]
        if len(set(match["texts"].values())) > 1 and not unmeasured.keys().isdisjoint(match["texts"].values())
        for text in match["texts"].values()
    }
    suggestion = [text for text in details["suggestion"] if text not in doubtful]
    return details | {"suggestion": suggestion, "languages": dict(Counter(unmeasured.values()))}


def _unmeasured(text: str) -> str | None:
    """Return the language of a text if the bundled model was never measured in it."""
    language = language_of_text(text)
    return None if language == ENGLISH or language in language_record() else language


def task_sentence(details: Mapping[str, Any]) -> str:
    """Return a sentence about the texts of a task in languages that were never measured; empty without such texts."""
    counts: Counter[str] = Counter()
    for field in details["controls"].values():
        counts.update(field.get("languages") or {})
    if not counts:
        return ""
    listed = ", ".join(f"{plural(n, 'text')} in {language}" for language, n in counts.most_common())
    return f"The measure was never measured in the language of {listed}: decide yourself whether they mean the same."


def language_warnings(tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str) -> list[str]:
    """Return a warning with the number of tasks that have texts in each language that was never measured.

    Parameters
    ----------
    tasks : iterable of (int, mapping)
        Numbers of tasks and their details.
    """
    counts: Counter[str] = Counter()
    n_tasks = 0
    for _, details in tasks:
        n_tasks += 1
        counts.update(((details["controls"].get(control) or {}).get("languages") or {}).keys())
    return [
        f"{n:,} of {plural(n_tasks, 'task')} {'has' if n == 1 else 'have'} texts in {language}, in which the measure "
        f"{BUNDLED} was never measured: different texts in it are not suggested, and an audit should judge them."
        for language, n in counts.most_common()
    ]
