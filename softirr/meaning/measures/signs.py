"""Signs in a text: "HIV +", "ER-positive", "-2.5 D"."""

from __future__ import annotations

import re
from functools import cache

from softirr.meaning.lexicon.words import any_of, entries, wordings
from softirr.meaning.measures.typed_values import TypedValue

__all__ = ["sign_words", "signs"]

_SIGN = re.compile(
    r"(?:[A-Z0-9](?![.,])|\b[A-Z][a-z])(?P<attached>[+−-](?:ve\b)?)(?=$|[\s,;)/])"
    r"|(?<=\s)(?P<word>[+−-]ve)\b"
    r"|(?:^|[\s(])(?P<alone>[+−-])(?=$|\s*[,;/]|\s*\)(?!-\w))"
    r"|(?<=[a-z])(?P<end>\+)$"
)
_SIGNED = re.compile(r"(?<![\w.)/+−-])(?<!\d\s)[+−-]\d{1,9}(?:\.\d{1,9})?(?![\w/+-]|\.\d)")
_NEAR = 60
"""Characters before a sign in which a negation is looked for."""


def signs(text: str) -> list[TypedValue]:
    """What a text calls positive or negative, in the order of the text, and numbers with a sign.

    Parameters
    ----------
    text : str
        Normalized.

    Returns
    -------
    list of TypedValue

    Examples
    --------
    >>> [(value.quantity, value.low, value.written) for value in signs("ER+, PR negative, -2.5 D")]
    [('sign', 1.0, ' positive'), ('sign', 0.0, None), ('signed number', -2.5, None)]
    """
    result = []
    for match in _SIGN.finditer(text):
        name = next(key for key in ("attached", "word", "alone", "end") if match[key])
        positive = match[name].startswith("+")
        start, end = match.span(name)
        if name == "attached" and not any(map(str.isalpha, text[:start].rpartition(" ")[2])):
            continue  # 5+ years
        word = "positive" if positive else "negative"
        written = None if not text[:start].strip(" (") else word if name == "alone" else f" {word}"
        result.append(TypedValue("sign", float(positive), float(positive), start, end, written))
    for match in _SIGNED.finditer(text):
        number = float(match[0].replace("−", "-"))
        result.append(TypedValue("signed number", number, number, *match.span()))
    for match in _word().finditer(text):
        if _negated().search(text[max(0, match.start() - _NEAR) : match.start()]):
            continue  # not HIV positive
        positive = match[0].casefold().startswith("p")
        result.append(TypedValue("sign", float(positive), float(positive), *match.span()))
    return sorted(result, key=lambda value: value.start)


@cache
def sign_words() -> tuple[str, ...]:
    """The words for positive and negative.

    Returns
    -------
    tuple of str
    """
    return tuple(word for entry in entries() if entry.dimension == "sign" for word in entry.wordings)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){any_of(sign_words())}(?!\w)", re.IGNORECASE)


@cache
def _negated() -> re.Pattern[str]:
    """A negation right before a word, or up to three words before it."""
    negators = any_of(wordings("negation", "negator"))
    return re.compile(
        rf"(?:(?:(?<!\w){negators}|n['’]t)(?:\s+(?!(?:but|and|with)\b)[\w-]+){{0,3}}\s+|(?<!\w)non-)$", re.IGNORECASE
    )
