"""Limits of the comparison: answers beyond them are left out with the reason, in files and in Label Studio projects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from softirr.text import normalize

LONGEST_TEXT = 100_000
"""Maximum characters of a text, about forty pages: a longer one may take as long as all other texts of a project."""
_MAX_COMPARISONS = 500_000
"""Maximum pairs of texts of an item: about 5 s and 300 MB with a lexical measure."""
_MAX_CHARACTERS = 400_000
"""Maximum characters of two raters' answers to an item: their edit distance takes about 3 s."""
_FEW, _SHORT = 1_000, 20_000
"""Number of texts of an item, and their characters, that no limit leaves out."""
TOO_LONG = f"a text too long to compare (more than {LONGEST_TEXT:,} characters)"
TOO_MANY = f"too many texts of one item to compare (more than {_MAX_COMPARISONS:,} pairs)"
TOO_MUCH = f"texts of one item too long to compare (more than {_MAX_CHARACTERS:,} characters against as many)"


def within_limits(answers: Mapping[str, Sequence[str]]) -> tuple[dict[str, Sequence[str]], list[tuple[str, str]]]:
    """Return the answers to an item that can be compared, by rater, and the other raters with the reason.

    Examples
    --------
    >>> within_limits({"ann": ["fever"], "bob": ["x" * 100_001]})
    ({'ann': ['fever']}, [('bob', 'a text too long to compare (more than 100,000 characters)')])
    """
    if _is_little(answers.values()):
        return dict(answers), []
    left_out = [(rater, TOO_LONG) for rater, texts in answers.items() if any(map(_is_too_long, texts))]
    too_long = {rater for rater, _ in left_out}
    comparable = {rater: texts for rater, texts in answers.items() if rater not in too_long}
    if reason := has_too_much(comparable.values()):
        return {}, left_out + [(rater, reason) for rater in comparable]
    return comparable, left_out


def has_too_much(answers: Collection[Sequence[str]]) -> str:
    """Return why the texts of each rater about an item are too much to compare; empty if they are not."""
    if _is_little(answers):
        return ""
    distinct = [{normalize(text) for text in texts} - {""} for texts in answers]
    if _pairs([len(texts) for texts in distinct]) > _MAX_COMPARISONS:
        return TOO_MANY
    return TOO_MUCH if _pairs([sum(map(len, texts)) for texts in distinct]) > _MAX_CHARACTERS**2 else ""


def comparisons(answers: Iterable[Sequence[str]]) -> int:
    """Return the number of pairs of texts by different raters."""
    return _pairs([len(texts) for texts in answers])


def _is_little(answers: Collection[Sequence[str]]) -> bool:
    """Whether texts are so few and short that no limit needs counting, even if normalizing makes them longer."""
    return sum(map(len, answers)) <= _FEW and sum(len(text) for texts in answers for text in texts) <= _SHORT


def _is_too_long(text: str) -> bool:
    return len(text) > LONGEST_TEXT and len(normalize(text)) > LONGEST_TEXT


def _pairs(sizes: Sequence[int]) -> int:
    """Return the sum of the products of all pairs of sizes."""
    return (sum(sizes) ** 2 - sum(size * size for size in sizes)) // 2
