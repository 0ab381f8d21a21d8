"""Answers on their way from raw to a table: their values, and the limits of the comparison."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from softirr.answers.answer import RawField, RawInput
from softirr.answers.kinds import NO_VALUE, Kind
from softirr.answers.missing import MissingMarks
from softirr.answers.read_options import ReadOptions
from softirr.answers.regions import Region
from softirr.answers.table import Excluded
from softirr.errors import InputError, option
from softirr.numbers import plural
from softirr.text import is_blank, normalize, shown

LONGEST_TEXT = 100_000
"""Maximum characters of a text, about forty pages: a longer one may take as long as all other texts of a project."""
_MAX_COMPARISONS = 500_000
"""Maximum pairs of texts of an item: about 5 s and 300 MB with a lexical measure."""
_MAX_CHARACTERS = 400_000
"""Maximum characters of two raters' answers to an item: their edit distance takes about 3 s."""
_FEW, _SHORT = 1_000, 20_000
"""Number of texts of an item, and their characters, that no limit leaves out, even if normalizing makes them longer."""
TOO_LONG = f"a text too long to compare (more than {LONGEST_TEXT:,} characters)"
TOO_MANY = f"too many texts of one item to compare (more than {_MAX_COMPARISONS:,} pairs)"
TOO_MUCH = f"texts of one item too long to compare (more than {_MAX_CHARACTERS:,} characters against as many)"
_SEMICOLON = re.compile("[;；؛]")
_SINGLE = ("ordinal", "interval", "date", "ranking")
"""Kinds of controls that usually have a single value."""


def beyond_limits(answers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return why answers to an item can't be compared, by rater; empty if all can.

    Examples
    --------
    >>> beyond_limits({"ann": ["fever"], "bob": ["x" * 100_001]})
    {'bob': 'a text too long to compare (more than 100,000 characters)'}
    """
    too_long = {
        rater: TOO_LONG
        for rater, texts in answers.items()
        if any(len(text) > LONGEST_TEXT and len(normalize(text)) > LONGEST_TEXT for text in texts)
    }
    comparable = {rater: texts for rater, texts in answers.items() if rater not in too_long}
    reason = has_too_much(comparable.values())
    return too_long | dict.fromkeys(comparable, reason) if reason else too_long


def has_too_much(answers: Collection[Sequence[str]]) -> str:
    """Return why the texts of each rater about an item are too much to compare; empty if they are not."""
    if sum(map(len, answers)) <= _FEW and sum(len(text) for texts in answers for text in texts) <= _SHORT:
        return ""
    distinct = [{normalize(text) for text in texts} - {""} for texts in answers]
    if _pairs([len(texts) for texts in distinct]) > _MAX_COMPARISONS:
        return TOO_MANY
    return TOO_MUCH if _pairs([sum(map(len, texts)) for texts in distinct]) > _MAX_CHARACTERS**2 else ""


def comparisons(answers: Iterable[Sequence[str]]) -> int:
    """Return the number of pairs of texts by different raters."""
    return _pairs([len(texts) for texts in answers])


def _pairs(sizes: Sequence[int]) -> int:
    """Return the sum of the products of all pairs of sizes."""
    return (sum(sizes) ** 2 - sum(size * size for size in sizes)) // 2


Key = tuple[str, str]
"""Item and rater of an answer."""


@dataclass
class Work:
    """Answers on their way from raw to prepared.

    Attributes
    ----------
    answers : dict of (str, str) to tuple of str
        Texts by item and rater.
    regions : dict of (str, str) to tuple
        Regions of these answers, with their texts.
    turns : dict of str to set of int
        Turns of each dialogue that somebody answered.
    """

    raw: RawField
    options: ReadOptions
    kind: Kind
    marks: MissingMarks
    source: RawInput
    answers: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    regions: dict[Key, tuple[tuple[Region, tuple[str, ...]], ...]] = field(default_factory=dict)
    turns: dict[str, set[int]] = field(default_factory=dict)
    texts_before_split: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    items: dict[str, None] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_split: int = 0
    n_blank: int = 0
    n_repeated: int = 0

    @property
    def empty(self) -> str:
        """Meaning of a blank answer."""
        return self.options.empty or self.raw.blank

    def name_of(self, rater: str) -> tuple[str, str]:
        """Return the name of a rater under the options, and the name that the input has for them."""
        input_name, names = self.source.rater_names.get(rater, rater), self.options.rater_names or {}
        return names.get(rater, names.get(input_name, input_name)), input_name

    def by_item(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the texts by item, then by rater."""
        answers_by_item: dict[str, dict[str, tuple[str, ...]]] = {}
        for (item, rater), texts in self.answers.items():
            answers_by_item.setdefault(item, {})[rater] = texts
        return answers_by_item


def separate_values(work: Work) -> None:
    """Separate the values in a cell, so that marks for a missing answer are found among them."""
    if not work.kind.is_list or work.raw.is_separate:
        return
    for key, texts in work.answers.items():
        work.answers[key] = tuple(value.strip() for text in texts for value in _SEMICOLON.split(text))


def read_values(work: Work) -> None:
    """Leave out answers without a value of the kind of the field."""
    kind = work.kind
    if kind.is_text:
        return
    values = {key: tuple(text for text in texts if not is_blank(text)) for key, texts in work.answers.items()}
    keeps_empty = kind.keeps_empty or work.options.empty == "none"
    work.answers = {key: texts for key, texts in values.items() if texts or keeps_empty}
    if n_empty := len(values) - len(work.answers):
        work.notes.append(
            f"Answers without a value: {n_empty:,}. They count as missing; {option('empty', 'none')} counts them as "
            "answers that differ from every value."
        )
    _check_values(work)
    mark = ">" if kind.name in ("path", "ranking") else ";" if kind.is_list else ""
    answers = [texts for texts in work.answers.values() if texts]
    has_mark = any(len(texts) > 1 or mark in texts[0] for texts in answers)
    if mark and answers and not has_mark and not work.raw.is_separate:
        work.notes.append(
            f"No answer has the mark {mark} of the kind {shown(kind.name)} ({kind.values}), so each counts as one "
            f"whole, as {shown(answers[0][0])!r}."
        )
    n_several = sum(len(texts) > 1 for texts in work.answers.values())
    if n_several and work.raw.is_separate and kind.name in _SINGLE:
        work.notes.append(
            f"{plural(n_several, 'annotation has', 'annotations have')} several values of {shown(work.raw.name)}, as "
            "of several regions: they count as a set."
        )


def _check_values(work: Work) -> None:
    kind = work.kind
    values = {text: normalize(text) for texts in work.answers.values() for text in texts}
    wrong = {text for text, form in values.items() if not kind.is_value(form)}
    bad = [key for key, texts in work.answers.items() if not wrong.isdisjoint(texts)]
    if not bad:
        return
    item, rater = min(bad)
    first = next(values[text] for text in work.answers[item, rater] if text in wrong)
    example = f"item {shown(item)}, rater {shown(rater)}: {shown(first)!r}"
    if len(bad) == sum(map(bool, work.answers.values())):
        raise InputError(f"No answer has a value of the kind {shown(kind.name)} ({kind.values}), as {example}.")
    for key in bad:
        work.excluded.append(Excluded(*key, NO_VALUE))
        del work.answers[key]
    work.notes.append(
        f"Answers that are no value of the kind {shown(kind.name)} ({kind.values}): {len(bad):,}. They are left out, "
        f"as {example}."
    )
