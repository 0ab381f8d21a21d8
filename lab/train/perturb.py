"""Changes of wording that occur in people's texts and are missing in terminologies.

Changes of :func:`vary` and :func:`swap` keep the meaning; :func:`opposite`, :func:`contrast` and :func:`renumber`
change it in one known way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from random import Random

from lab.train.words import IN_OTHER_WORDS, contrasts, read_groups, shortened, small_table, spellings
from softirr.meaning.lexicon import opposites

Change = Callable[[Random, str], str | None]

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_OF_THE = re.compile(r"^(.+?) (?:of the|of) ([^,]+)$")


@cache
def small_words(line: int) -> frozenset[str]:
    """Words that do not count when a text is turned around (0), and in initials (1)."""
    return frozenset(small_table("small")[line].split("/"))


@cache
def _opposites() -> dict[str, tuple[str, ...]]:
    by_word: dict[str, tuple[str, ...]] = {}
    for first, second in opposites("contrast"):
        by_word[first] = (*by_word.get(first, ()), second)
        by_word[second] = (*by_word.get(second, ()), first)
    return by_word


@cache
def _kinds() -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """Words of a kind, and the other words of it."""
    replacements: dict[str, tuple[str, ...]] = {}
    for line in contrasts():
        folded = [word.lower() for word in line]
        for word in folded:
            replacements[word] = tuple(w for w in (*replacements.get(word, ()), *folded) if w != word)
    return _any_of(replacements), replacements


@cache
def _shortened() -> re.Pattern[str]:
    return _any_of(shortened())


@cache
def _swaps() -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """Words that can be replaced, and their replacements."""
    replacements: dict[str, tuple[str, ...]] = {}
    for group in read_groups("swaps"):
        folded = [word.lower() for word in group]
        replacements[folded[0]] = tuple(dict.fromkeys((*replacements.get(folded[0], ()), *(w for w in folded[1:]))))
    return _any_of(replacements), replacements


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of these words, the longest one first."""
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(longest_first) + r")(?![\w-])", re.IGNORECASE)


def vary(rng: Random, text: str) -> str:
    """The same text as another person would type it: case, hyphens, spelling, plural, order, shortened words."""
    if rng.random() < 0.12:
        kind = rng.random()
        if kind < 0.4:
            return text.lower()
        if kind < 0.7:
            return text[:1].upper() + text[1:]
        return text.title() if kind < 0.85 else text.upper()
    changes: tuple[Change, ...] = (respell, hyphenate, invert, of_form, shorten, pluralise, punctuate, filler)
    for _ in range(3):
        changed = rng.choice(changes)(rng, text)
        if changed is not None:
            return changed
    return text


def swap(rng: Random, text: str) -> str | None:
    """The text with one or two words replaced by words of the same meaning, or None if none is known."""
    pattern, replacements = _swaps()
    lower = text.lower()
    for _ in range(1 if rng.random() < 0.6 else 2):
        lower = _replaced(rng, lower, pattern, replacements) or lower
    return lower if lower != text.lower() else None


def _replaced(
    rng: Random, text: str, pattern: re.Pattern[str], replacements: Mapping[str, Sequence[str]]
) -> str | None:
    """The text with one of the pattern's matches replaced, or None if there is none."""
    spots = list(pattern.finditer(text))
    if not spots:
        return None
    spot = rng.choice(spots)
    return text[: spot.start()] + rng.choice(replacements[spot.group()]) + text[spot.end() :]


def respell(rng: Random, text: str) -> str | None:
    """British for American spelling or the reverse."""
    lower = text.lower()
    american = lower
    for first, second in spellings():
        american = american.replace(first, second)
    if american != lower:
        return american
    candidates = [(b, a) for b, a in spellings() if a in lower and len(a) > 4 and a not in IN_OTHER_WORDS]
    if not candidates:
        return None
    first, second = rng.choice(candidates)
    return lower.replace(second, first)


def hyphenate(rng: Random, text: str) -> str | None:
    """A hyphen becomes a space, or is left out."""
    if "-" not in text:
        return None
    return text.replace("-", " " if rng.random() < 0.7 else "")


def invert(rng: Random, text: str) -> str | None:
    """``acute renal failure`` to ``renal failure, acute``, and back."""
    if "," in text:
        head, _, tail = text.partition(",")
        tail = tail.strip()
        return f"{tail} {head}" if tail and "," not in tail and len(tail.split()) <= 2 else None
    words = text.split()
    if not 2 <= len(words) <= 5 or not small_words(0).isdisjoint(map(str.lower, words)):
        return None
    cut = 1 if len(words) == 2 or rng.random() < 0.7 else 2
    return f"{' '.join(words[cut:])}, {' '.join(words[:cut])}"


def of_form(rng: Random, text: str) -> str | None:
    """``cancer of the kidney`` to ``kidney cancer``, and ``kidney cancer`` to ``cancer of the kidney``."""
    match = _OF_THE.match(text)
    if match:
        head, tail = match.groups()
        if (
            " of " in tail
            or " with " in text
            or " and " in text
            or len(tail.split()) > 3
            or tail.lower().startswith("the ")
        ):
            return None
        return f"{tail} {head}"
    words = text.split()
    if len(words) == 2 and words[1].lower() in small_table("of")[0].split("/"):
        return f"{words[1]} of {'the ' if rng.random() < 0.5 else ''}{words[0]}"
    return None


def shorten(rng: Random, text: str) -> str | None:
    """One word shortened as in charts."""
    match = _shortened().search(text)
    if match is None:
        return None
    short = rng.choice(shortened()[match.group(0).lower()])
    return text[: match.start()] + short + text[match.end() :]


def pluralise(rng: Random, text: str) -> str | None:
    """Plural for singular of the last word, or the reverse."""
    words = text.split()
    last = words[-1] if words else ""
    if len(last) < 4 or not last.isalpha() or not last.islower():
        return None
    if last.endswith("oma"):
        second = last + ("s" if rng.random() < 0.6 else "ta")
    elif last.endswith(
        ("ia", "sis", "itis", "ness", "ism", "ous", "ic", "al", "us", "ss", "xis", "ive", "ing", "ed", "ary", "ar")
    ):
        return None
    elif last.endswith("ies"):
        second = last[:-3] + "y"
    elif last.endswith("s"):
        second = last[:-1]
    elif last.endswith("y") and last[-2] not in "aeiou":
        second = last[:-1] + "ies"
    elif last.endswith(("x", "ch", "sh")):
        second = last + "es"
    else:
        second = last + "s"
    return " ".join((*words[:-1], second))


def punctuate(rng: Random, text: str) -> str | None:
    """A full stop, brackets, or a leading dash, as in lists."""
    return rng.choice((f"{text}.", f"- {text}", f"({text})", f"{text};", f'"{text}"', f"{text} ", f"{text}!"))


def filler(rng: Random, text: str) -> str | None:
    """Add words without meaning."""
    return rng.choice(small_table("fillers")).format(text)


def typo(rng: Random, text: str) -> str | None:
    """A long word mistyped or misspelled in one place: readers still recognize the word.

    Two letters change places, one is missing, doubled or typed again after the next, a double one is single, or a vowel
    inside is another. The beginning stays, and so do the vowels of the end: hyper- and hypo-, -itis and -osis are
    other words.
    """
    words = [m for m in _WORD.finditer(text) if len(m.group()) >= 8]
    if not words:
        return None
    match = rng.choice(words)
    word = match.group()
    k = rng.randrange(3, len(word) - 2)
    draw = rng.random()
    if draw < 0.3:
        wrong = word[:k] + word[k + 1] + word[k] + word[k + 2 :]
    elif draw < 0.55:
        wrong = word[:k] + word[k + 1 :]
    elif draw < 0.7:
        wrong = word[:k] + word[k] + word[k:]
    elif draw < 0.8:
        wrong = word[: k + 2] + word[k] + word[k + 2 :]
    else:
        doubled = [i for i in range(3, len(word) - 1) if word[i] == word[i + 1]]
        vowels = [i for i in range(5, len(word) - 4) if word[i] in "aeiou"]
        if doubled and (not vowels or rng.random() < 0.6):
            k = rng.choice(doubled)
            wrong = word[:k] + word[k + 1 :]
        elif vowels:
            k = rng.choice(vowels)
            wrong = word[:k] + rng.choice([v for v in "aeiou" if v != word[k]]) + word[k + 1 :]
        else:
            return None
    return text[: match.start()] + wrong + text[match.end() :] if wrong != word else None


def opposite(rng: Random, text: str) -> str | None:
    """The text with one word or prefix turned into its opposite, or None if there is none."""
    spots: list[tuple[int, int, str]] = []
    lower = text.lower()
    for match in _WORD.finditer(lower):
        word = match.group()
        for second in _opposites().get(word, ()):
            spots.append((match.start(), match.end(), second))
        if len(word) >= 8:
            for first, second_prefix in opposites("prefix"):
                for prefix, swapped in ((first, second_prefix), (second_prefix, first)):
                    if word.startswith(prefix) and len(word) - len(prefix) >= 4:
                        spots.append((match.start(), match.start() + len(prefix), swapped))
    if not spots:
        return None
    start, end, replacement = rng.choice(spots)
    return lower[:start] + replacement + lower[end:]


def contrast(rng: Random, text: str) -> str | None:
    """The text with one word turned into another of its kind (kidney into liver), or None if there is none."""
    return _replaced(rng, text.lower(), *_kinds())


def renumber(rng: Random, text: str) -> str | None:
    """The text with one of its numbers changed (Roman ones too), or None if there is none."""
    spots = list(re.finditer(r"\d+|\b(?:I|II|III|IV|V|VI|VII|VIII|IX|X)\b|(?<=\d)[A-Z]\b", text))
    if not spots:
        return None
    match = rng.choice(spots)
    old = match.group()
    if old.isdigit():
        value = int(old)
        replacements = (value + 1, value - 1, value + 2, value * 2, value * 10, value + 10)
        new = str(rng.choice([v for v in replacements if v > 0 and v != value]))
    elif old in _ROMAN:
        position = _ROMAN.index(old)
        new = rng.choice([r for k, r in enumerate(_ROMAN) if 0 < abs(k - position) < 4])
    else:
        new = rng.choice([c for c in "ABCDEF" if c != old])
    return text[: match.start()] + new + text[match.end() :]


_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_ARABIC = {r: str(k) for k, r in enumerate(_ROMAN, 1)}


def rewrite_number(rng: Random, text: str) -> str | None:
    """A Roman number as an Arabic one or the reverse, after a word such as type."""
    match = re.search(r"\b(type|grade|stage|class|factor|phase|group) (\d|[IVX]+)\b", text)
    if match is None:
        return None
    old = match.group(2)
    new = _ARABIC.get(old) or (_ROMAN[int(old) - 1] if old.isdigit() and 0 < int(old) <= 10 else None)
    return None if new is None else text[: match.start(2)] + new + text[match.end(2) :]
