"""Finished sentences in the words of a surface: task and annotator instead of item and rater."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.numbers import number
from softirr.report.view.parts import Names
from softirr.statistics.coefficients.registry import coefficient_title
from softirr.text import printable

__all__ = ["adapted", "what_if_sentences"]

_LEAST_CHANGE = 0.005

_TERM = re.compile(r"(?<![\w-])(?:(an?) )?(item|rater)(s?)(?![\w-])", re.IGNORECASE)
"""The terms with an article, but not in the name of an option such as --predictions-as-raters."""


def adapted(sentence: str, names: Names) -> str:
    """A sentence, such as a warning, with the words of a surface for item and rater.

    Parameters
    ----------
    sentence : str
    names : Names
        Names of raters that occur in the sentence stay as they are.

    Returns
    -------
    str

    Examples
    --------
    >>> adapted("Raters who share an item", Names(item="task", rater="annotator"))
    'Annotators who share a task'
    """
    fixed = "|".join(re.escape(name) for name in sorted({*names.raters.values()} - {""}, key=len, reverse=True))
    parts = re.split(rf"({fixed})", printable(sentence)) if fixed else [printable(sentence)]

    def instead(match: re.Match[str]) -> str:
        article, term, plural = match.groups()
        word = (names.item if term.lower() == "item" else names.rater) + plural
        if not article:
            return word.capitalize() if term[0].isupper() else word
        indefinite = "an" if word[0] in "aeiou" else "a"
        return f"{indefinite.capitalize() if article[0].isupper() else indefinite} {word}"

    return "".join(part if n % 2 else _TERM.sub(instead, part) for n, part in enumerate(parts))


def what_if_sentences(entries: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The headline coefficient without each attribute that changes it.

    Parameters
    ----------
    entries : sequence of mapping
        ``reasons.what_if`` of a report.

    Yields
    ------
    str
    """
    for entry in entries:
        then, now = (number(entry[key]) for key in ("value", "instead_of"))
        if then != now and abs(entry["value"] - entry["instead_of"]) >= _LEAST_CHANGE:
            title = coefficient_title(entry["coefficient"])
            yield f"If {REASON_NAMES[entry['attribute']]} did not count, {title} would be {then} instead of {now}."
