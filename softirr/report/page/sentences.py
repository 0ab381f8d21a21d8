"""What the page says in words of coefficients and raters: sentences, names, meanings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from softirr.report.page.formats import number, plural

__all__ = [
    "EXPECTED",
    "ITEMS",
    "MEANINGS",
    "NAMES",
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

    def said(self, sentence: str, keep: Iterable[str] = ()) -> str:
        """A finished sentence, such as a warning or a reason, with these words where it says item and rater.

        Parameters
        ----------
        sentence : str
        keep : iterable of str
            Names in it that stay as they are: of raters, fields and values.

        Examples
        --------
        >>> TASKS.said("Rater of items: no item has an answer of this rater and of two others.", ["Rater of items"])
        'Rater of items: no task has an answer of this annotator and of two others.'
        >>> TASKS.said("Raters who share an item")
        'Annotators who share a task'
        """
        names = "|".join(re.escape(one) for one in sorted({*keep} - {""}, key=len, reverse=True))
        parts = re.split(rf"({names})", sentence) if names else [sentence]
        return "".join(part if place % 2 else _TERM.sub(self._instead, part) for place, part in enumerate(parts))

    def _instead(self, found: re.Match[str]) -> str:
        article, term, many = found.groups()
        word = (self.item if term.lower() == "item" else self.rater) + many
        if not article:
            return word.capitalize() if term[0].isupper() else word
        said = "an" if word[0] in "aeiou" else "a"
        return f"{said.capitalize() if article[0].isupper() else said} {word}"


ITEMS = Words("item", "rater")
TASKS = Words("task", "annotator")
"""What Label Studio calls them."""

NAMES = {
    "observed_agreement": "Observed agreement",
    "cohen_kappa": "Cohen’s kappa",
    "scott_pi": "Scott’s pi",
    "fleiss_kappa": "Fleiss’ kappa",
    "krippendorff_alpha": "Krippendorff’s alpha",
    "gwet_ac2": "Gwet’s AC2",
    "sigma": "Sigma",
    "ks": "KS",
}
"""Every coefficient as the page names it."""

MEANINGS = {
    "observed_agreement": "Mean equivalence of two answers to the same {item}; says nothing of chance.",
    "cohen_kappa": "Beyond chance, mean over pairs of {rater}s, each with their own habits.",
    "scott_pi": "Beyond chance, for exactly two {rater}s with habits in common.",
    "fleiss_kappa": "Beyond chance, any number of {rater}s with habits in common.",
    "krippendorff_alpha": "Beyond chance; copes with missing answers and small samples.",
    "gwet_ac2": "Beyond chance; stays high where nearly all answers are alike.",
    "sigma": "Share of same-{item} pairs more alike than 95% of different-{item} pairs (Braylan et al. 2022).",
    "ks": "Greatest gap between same-{item} and different-{item} pairs (Braylan et al. 2022).",
}
EXPECTED = {
    "cohen_kappa": "cohen",
    "fleiss_kappa": "fleiss",
    "scott_pi": "fleiss",
    "krippendorff_alpha": "krippendorff",
}
"""The agreement by chance that a coefficient is corrected by, as a key of ``expected_agreement``."""


def headline_sentence(
    name: str,
    coefficient: Mapping[str, Any],
    report: Mapping[str, Any],
    n_items: int,
    *,
    words: Words = ITEMS,
    more: str | None = None,
) -> str:
    """The meaning of the headline as sentences.

    Parameters
    ----------
    name : str
        Name of the coefficient, as in the JSON.
    coefficient : mapping
        ``value``, ``ci95`` (the interval that is shown) and, where it is not audited, ``ci95_items`` (without the measure's error).
    report : mapping
        With ``n_raters``, ``coefficients`` and ``expected_agreement``.
    n_items : int
        Items with an agreement.
    words : Words
    more : str, optional
        What would narrow a wide interval; by default the main cause of its width.

    Returns
    -------
    str
    """
    value, interval = coefficient["value"], coefficient.get("ci95")
    item, raters = words.item, f"{words.rater.capitalize()}s"
    basis = f"over {plural(n_items, item)} answered by {plural(report['n_raters'], words.rater)}"
    if name == "observed_agreement":
        return f"Two answers to the same {item} are equivalent at {value:.2f} on average, {basis}. Agreement beyond chance is not defined here."
    certain = ""
    items = coefficient.get("ci95_items")
    if interval:
        certain = f" (95% confidence: {number(interval[0])} to {number(interval[1])})"
    if value <= 0:
        text = f"{raters} agree no more than chance would have it"
    elif interval and interval[0] <= 0:
        text = f"Whether {words.rater}s agree beyond chance is not certain"
    else:
        text = f"{raters} agree beyond chance"
    text += f": {NAMES[name]} is {number(value)}{certain}, {basis}."
    observed = report["coefficients"].get("observed_agreement", {}).get("value")
    expected = report["expected_agreement"].get(EXPECTED.get(name, ""))
    if observed is not None and expected is not None:
        text += f" Answers to the same {item} are equivalent at {observed:.2f} on average, where chance alone would give {expected:.2f}."
    if interval and items:
        text += (
            f" Nobody has audited this value, so the interval includes the errors of the measure, as they were on benchmark data. "
            f"If the measure made no errors, it would be {number(items[0])} to {number(items[1])}."
        )
    if more is None:
        more = f"more {item}s"
        if items and interval and items[1] - items[0] < (interval[1] - interval[0]) / 2:
            more = "an audit"
    if interval and interval[1] - interval[0] > 0.3:
        text += f" The interval is wide: {more} would make this more certain."
    return text


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
        ``key``, ``name``, ``meaning`` and ``expected`` beside what the report holds.
    """
    expected = report["expected_agreement"]
    return [
        {
            "key": key,
            "name": NAMES.get(key, key),
            "meaning": words.put(MEANINGS.get(key, "")),
            **coefficient,
            "expected": expected.get(EXPECTED[key])
            if key in EXPECTED and coefficient.get("value") is not None
            else None,
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
        return "neither"
    return "more general" if general > specific else "more specific"
