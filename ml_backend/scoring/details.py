"""The stored details of scored tasks and of a project's report, and counts over the details of all tasks.

Reasons why texts do not match are counted, and texts in languages in which the bundled model was never measured: its
matches there are not suggested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ml_backend.labelstudio.answers import rater_order
from ml_backend.scoring.preparation import task_of
from softirr.answers.answer import whole_of
from softirr.meaning.measures.languages import ENGLISH, language_of_text
from softirr.meaning.measures.suitability import BUNDLED, language_record
from softirr.numbers import plural

if TYPE_CHECKING:
    from softirr.report.reason_counts import ReasonSummary
    from softirr.report.result_parts import ItemAgreement

MOST_REASONS = 200
"""Maximum number of text pairs of a task and field with a stored reason."""
MOST_EXCLUDED = 1000
"""Answers left out that a summary lists."""
MOST_MEANINGS, MOST_ITEMS = 500, 1000
"""Maximum numbers of clusters of a report, and of the items that each lists."""


def mean(agreements: Iterable[float | None]) -> float | None:
    """Return the mean of the agreements that are defined; None without any."""
    defined = [agreement for agreement in agreements if agreement is not None]
    return sum(defined) / len(defined) if defined else None


def by_task(items: Iterable[ItemAgreement]) -> dict[int, list[ItemAgreement]]:
    """Return the items of each task: the task itself, or its parts."""
    of_tasks: dict[int, list[ItemAgreement]] = {}
    for item in items:
        of_tasks.setdefault(task_of(item.id), []).append(item)
    return of_tasks


def agreement_of(items: Sequence[ItemAgreement]) -> dict[str, Any]:
    """Return the agreement of a task and of each two raters on it, which are means over its items."""
    pairs: dict[tuple[str, str], list[float]] = {}
    for a, b, value in (pair for item in items for pair in item.pairs):
        pairs.setdefault((a, b), []).append(value)
    return {
        "agreement": mean(item.agreement for item in items),
        "pairs": [[a, b, mean(values)] for (a, b), values in pairs.items()],
    }


def control_details(items: Sequence[ItemAgreement]) -> dict[str, Any]:
    """Return the details of one control of one task."""
    matches: list[dict[str, Any]] = []
    suggested: dict[str, list[str]] = {}
    for number, item in enumerate(items):
        is_part = whole_of(item.id) != item.id  # a turn or a group of matched regions
        matches += (match.to_dict() | ({"place": number} if is_part else {}) for match in item.matches)
        if is_part and item.suggestion:
            suggested[str(number)] = list(item.suggestion)
    original = _by_rater(item.written for item in items)
    return {
        **agreement_of(items),
        "n_raters": max((item.n_raters for item in items), default=0),
        "matches": matches,
        "unmatched": _by_rater(item.unmatched for item in items),
        "suggestion": list(dict.fromkeys(text for item in items for text in item.suggestion)),
        "reasons": [reason.with_broader() for item in items for reason in item.reasons][:MOST_REASONS],
        **({"written": original} if original else {}),
        **({"suggested": suggested} if suggested else {}),
    }


def _by_rater(texts_of_items: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, list[str]]:
    """Return each rater's texts in all items."""
    texts_of: dict[str, list[str]] = {}
    for texts_of_item in texts_of_items:
        for rater, texts in texts_of_item.items():
            texts_of.setdefault(rater, []).extend(texts)
    return texts_of


def counted_reasons(tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str) -> tuple[ReasonSummary, list[str]]:
    """Count why texts of a project do not match, from the details of its tasks, so that no pair is explained twice.

    Parameters
    ----------
    tasks : iterable of (int, mapping)
        Numbers of tasks and their details (`Scorer.task_details`).

    Returns
    -------
    ReasonSummary, list of str
        At most `MOST_REASONS` pairs of a task count; a warning names the tasks that have more.
    """
    from softirr.report.reason_counts import summarize_reasons

    shared: Counter[tuple[str, str]] = Counter()
    incomplete: list[int] = []

    def stored() -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
        for number, details in tasks:
            if (field := details["controls"].get(control)) is None:
                continue
            shared.update((a, b) for a, b, _ in field["pairs"])
            reasons = field.get("reasons", ())
            if len(reasons) >= MOST_REASONS:
                incomplete.append(number)
            yield str(number), reasons

    reasons_found = summarize_reasons(stored(), shared)
    in_order = sorted(reasons_found.rater_pairs, key=lambda row: tuple(map(rater_order, row.raters)))
    names = f"task {incomplete[0]}" if len(incomplete) == 1 else plural(len(incomplete), "task")
    sentence = (
        f"Many texts of {names} do not match: the reasons of {MOST_REASONS} pairs of texts of a task are counted."
    )
    return replace(reasons_found, rater_pairs=tuple(in_order)), [sentence] if incomplete else []


def without_items(report: dict[str, Any], n_compared: int) -> dict[str, Any]:
    """Return a report on a field as a summary has it: without its items, and with long lists cut."""
    excluded = report.get("excluded", [])
    result = {name: value for name, value in report.items() if name != "items"}
    if "meanings" in report:
        clusters = report["meanings"][:MOST_MEANINGS]
        result["meanings"] = [{**cluster, "items": cluster["items"][:MOST_ITEMS]} for cluster in clusters]
    return result | {"n_compared": n_compared, "n_excluded": len(excluded), "excluded": excluded[:MOST_EXCLUDED]}


def with_languages(details: dict[str, Any], measure: str) -> dict[str, Any]:
    """Return the details of a control of a task, with the number of texts in each language that was never measured.

    Different texts in such a language that the model matches are excluded from the suggestion.
    """
    if measure != BUNDLED:
        return details
    matched = {text for match in details["matches"] for text in match["texts"].values()}
    texts = matched.union(*details["unmatched"].values())
    languages = {text: language_of_text(text) for text in texts}
    unmeasured = {text: name for text, name in languages.items() if name != ENGLISH and name not in language_record()}
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


def languages_sentence(details: Mapping[str, Any]) -> str:
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
