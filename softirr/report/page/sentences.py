"""What the page says in words of coefficients and raters: sentences, names, meanings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from softirr.numbers import number
from softirr.plural import plural
from softirr.report.headline import expected_agreement
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_title, definition

__all__ = [
    "ITEMS",
    "PLACES",
    "TASKS",
    "Words",
    "coefficient_rows",
    "headline_sentence",
    "tendency_words",
]

_TERM = re.compile(r"(?<![\w-])(?:(an?) )?(item|rater)(s?)(?![\w-])", re.IGNORECASE)
"""The terms with an article; not in the name of an option, such as --model-raters."""


@dataclass(frozen=True)
class Words:
    """What a page calls items and raters.

    Attributes
    ----------
    item, rater : str
        Singular; the plural has an s.
    """

    item: str
    rater: str

    def put(self, sentence: str) -> str:
        """The sentence with these words for ``{item}`` and ``{rater}``."""
        return sentence.format(item=self.item, rater=self.rater)

    def adapt(self, sentence: str, keep: Iterable[str] = ()) -> str:
        """A finished sentence, such as a warning or a reason, with these words where it says item and rater.

        Parameters
        ----------
        sentence : str
        keep : iterable of str
            Names in it that stay as they are: of raters, fields and values.

        Examples
        --------
        >>> TASKS.adapt("Rater of items: no item has an answer of this rater and of two others.", ["Rater of items"])
        'Rater of items: no task has an answer of this annotator and of two others.'
        >>> TASKS.adapt("Raters who share an item")
        'Annotators who share a task'
        """
        names = "|".join(re.escape(one) for one in sorted({*keep} - {""}, key=len, reverse=True))
        parts = re.split(rf"({names})", sentence) if names else [sentence]
        return "".join(part if place % 2 else _TERM.sub(self._instead, part) for place, part in enumerate(parts))

    def _instead(self, match: re.Match[str]) -> str:
        article, term, many = match.groups()
        word = (self.item if term.lower() == "item" else self.rater) + many
        if not article:
            return word.capitalize() if term[0].isupper() else word
        indefinite = "an" if word[0] in "aeiou" else "a"
        return f"{indefinite.capitalize() if article[0].isupper() else indefinite} {word}"


ITEMS = Words("item", "rater")
TASKS = Words("task", "annotator")
"""What Label Studio calls them."""
PLACES = Words("place", "annotator")
"""The same where each place of a task at which regions overlap is an item."""


def headline_sentence(
    name: str,
    coefficient: Mapping[str, Any],
    report: Mapping[str, Any],
    n_items: int,
    *,
    words: Words = ITEMS,
    fits: bool = True,
) -> str:
    """The meaning of the headline in one sentence.

    Parameters
    ----------
    name : str
        Name of the coefficient, as in the JSON.
    coefficient : mapping
        As in the JSON: ``value`` and ``ci95``.
    report : mapping
        With ``raters``, ``coefficients`` and ``expected_agreement``.
    n_items : int
        Items with an agreement.
    words : Words
    fits : bool
        Whether the measure fits the texts; if it does not, the sentence claims no agreement beyond chance.

    Returns
    -------
    str
    """
    value, ci95, raters = coefficient["value"], coefficient.get("ci95"), f"{words.rater.capitalize()}s"
    n_raters = sum(one["agreement"] is not None for one in report["raters"])  # others' answers are compared with none
    basis = f"over {plural(n_items, words.item)} answered by {plural(n_raters, words.rater)}"
    if name == "observed_agreement":
        return f"Average agreement is {number(value)}, {basis}. Agreement beyond chance is not defined here."
    if not fits:
        claim = (
            f"The measure does not fit these texts, so this value does not show whether {words.rater}s agree beyond "
            "chance"
        )
    elif ci95 and ci95[0] <= 0 < ci95[1]:
        claim = f"It is not clear yet whether {words.rater}s agree beyond chance"
    elif value <= 0:
        claim = f"{raters} agree no more than chance"
    else:
        claim = f"{raters} agree beyond chance"
    observed = report["coefficients"].get("observed_agreement", {}).get("value")
    expected = expected_agreement(report, name)
    if observed is None or expected is None:
        return f"{claim}, {basis}."
    return f"{claim}: average agreement is {number(observed)}, and chance alone would give {number(expected)}, {basis}."


def coefficient_rows(report: Mapping[str, Any], *, words: Words = ITEMS) -> list[dict[str, Any]]:
    """Every coefficient with its meaning and its value expected by chance.

    Parameters
    ----------
    report : mapping
        With ``coefficients`` and ``expected_agreement``.
    words : Words

    Returns
    -------
    list of dict
        ``key``, ``name``, ``meaning`` and ``expected`` beside what the report has.
    """
    return [
        {
            "key": key,
            "name": coefficient_title(key),
            "meaning": words.put(definition(key).meaning) if key in coefficient_keys() else "",
            **coefficient,
            "expected": None if coefficient.get("value") is None else expected_agreement(report, key),
        }
        for key, coefficient in report["coefficients"].items()
    ]


def tendency_words(general: int, specific: int) -> str:
    """Whether a rater tends to general or specific texts, by a sign test.

    Parameters
    ----------
    general, specific : int
        How often the rater's text is the more general, and the more specific one of two.

    Returns
    -------
    str
    """
    total = general + specific
    if not total:
        return "no differences"
    # one-sided probability of such a majority if both are equally likely
    majority = max(general, specific)
    if total <= 1000:
        tail = sum(math.comb(total, k) for k in range(majority, total + 1)) / 2**total
    else:
        tail = math.erfc((2 * majority - total - 1) / math.sqrt(2 * total)) / 2
    if tail > 0.05:
        return "no tendency"
    return "more general" if general > specific else "more specific"
