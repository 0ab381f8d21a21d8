"""The normal form of texts: two texts are the same where their normal forms are equal. And the sentences of a text."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby

_UNSAFE = dict.fromkeys([*range(32), *range(127, 160)], " ") | dict.fromkeys(range(55296, 57344), "�")
_FULL_STOPS = "。।॥۔؟።။។"
"""Marks that only end sentences, with or without a space: Chinese, Indic, Arabic, Ethiopic, Burmese and Khmer."""
_SENTENCE = re.compile(
    rf"(?<=[{_FULL_STOPS}])[\"')\]”」』]*\s*(?=\S)|(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*([A-Z0-9]|[^\x00-\x7f]))"
)
_NO_END = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|vs|approx|ca|no|nr|fig|st|e\.g|i\.e|etc|cf|pt|hx|resp|incl|[^\W\d_])|\b\d)\.$",
    re.IGNORECASE,
)
_ABBREVIATION = 12
"""Characters before the end of a sentence in which an abbreviation is looked for: more than the longest has."""
_OPEN = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "「": "」", "『": "』"}
_HAS_UNSAFE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Unicode's default-ignorable code points, without the joiners."""
_JOINING = (
    "\u0591-\u109f\u1780-\u1c7f\u1cc0-\u1cff\u2190-\u21ff\u2300-\u2328\u232b-\u27bf\u2b00-\u2bff"
    "\ua800-\uab2f\uabc0-\uabff\ufb1d-\ufdff\ufe70-\ufefe"
    "\U00010a00-\U00011fff\U0001e800-\U0001e95f\U0001f000-\U0001faff"
)
"""Scripts that need joiners between two characters (Arabic, Hebrew, Indic and others), and emoji."""
_JOINERS = re.compile(
    f"(?<![{_JOINING}\u200c\u200d])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]++(?![{_JOINING}])"
)
"""Zero-width joiners and non-joiners in positions that no script needs."""
_MARK_RUN = re.compile(r"[^\w\s\x00-\x7f]{31,}")
"""More marks in a row than any language needs: 30 are Unicode's limit for streams (UAX 15).

Every combining mark is in this class.
"""
_JOINER_RUN = re.compile("([\u200c\u200d])[\u200c\u200d]+")
_MAX_LISTED = 12
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


_FORMS = ("<wide>", "<narrow>", "<square>", "<isolated>", "<initial>", "<medial>", "<final>")
"""Compatibility decompositions that change the form of a character only: width, units in a square, Arabic positions."""
_LIGATURES = frozenset("ﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗĲĳǄǅǆǇǈǉǊǋǌǱǲǳ℃℉")
_HARAKAT = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]")
_BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=[%‰°])")
_FINAL_SIGMA = re.compile(r"(?<=[^\W\d_])σ\b")
"""Folded by `str.casefold`, although it is another form by its place and not by its case."""


class _Folding(dict[int, str | int]):
    """Translation of characters to their normal form, filled as characters appear."""

    def __missing__(self, code: int) -> str | int:
        self[code] = folded = _folded(chr(code)) if code > 127 else code
        return folded


def _folded(character: str) -> str:
    """Return the normal form of a character: width, digit, ligature, position; nothing for tatweel."""
    if character == "\u0640":
        return ""
    if character == "\u066b":  # Arabic decimal separator
        return "."
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    form, *codes = unicodedata.decomposition(character).split() or [""]
    if form in _FORMS or character in _LIGATURES:
        return "".join(_folded(chr(int(code, 16))) for code in codes)
    return character


_FOLDING = _Folding()


@lru_cache(maxsize=64)  # a text is read by several rules one after the other
def normalize(text: str, *, casefold: bool = False, ignore_harakat: bool = False) -> str:
    r"""Return the normal form of `text`: two texts with the same normal form are the same text.

    The normal form is Unicode NFC with white space folded to single spaces. Width forms, native digits, ligatures and
    Arabic positional forms are replaced by their plain characters, and tatweel and invisible characters (zero-width
    spaces, soft hyphens, marks of direction) are removed. Superscripts stay, because 10² is not 102. Zero-width joiners
    stay if a script needs them. Control characters count as white space; lone surrogates become U+FFFD.

    Parameters
    ----------
    casefold : bool
        Fold case as well. Turkish dotted and dotless i become i; a Greek word keeps its final sigma.
    ignore_harakat : bool
        Remove Arabic vowel signs.

    Examples
    --------
    >>> normalize("  heart\t attack\n")
    'heart attack'
    >>> normalize("３８.５℃"), normalize("38.5 °C"), normalize("ﬁeber ٣"), normalize("10²")
    ('38.5°C', '38.5°C', 'fieber 3', '10²')
    >>> normalize("İSTANBUL", casefold=True), normalize("Πυρετός", casefold=True), normalize("fe\u00adver\u200b")
    ('istanbul', 'πυρετός', 'fever')
    """
    if text.isascii() and text.isprintable():  # nearly all texts of most projects, in a fraction of the time
        text = " ".join((text.lower() if casefold else text).split())
        return _BEFORE_UNIT.sub("", text) if " %" in text else text
    text = _visible(text)
    text = _composed(_composed(text).translate(_FOLDING))
    if ignore_harakat:
        text = _HARAKAT.sub("", text)
    if casefold:
        text = _composed(_FINAL_SIGMA.sub("ς", text.casefold().replace("i\u0307", "i").replace("ı", "i")))
    return _BEFORE_UNIT.sub("", " ".join(text.split()))


def clean(text: str) -> str:
    """Return `text` as it was written, in NFC, without invisible characters and with single spaces."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    text = _visible(text)
    return " ".join(_composed(text).split())


def _composed(text: str) -> str:
    """The text in NFC, in linear time except for sorting.

    Python orders combining marks by insertion sort, which takes quadratic time. Long runs are therefore sorted first.
    """
    return unicodedata.normalize("NFC", _MARK_RUN.sub(lambda run: _in_order(run[0]), text))


def _in_order(run: str) -> str:
    """Combining marks, decomposed and in the order of their classes."""
    run = run.translate({ord(character): unicodedata.normalize("NFD", character) for character in set(run)})
    classes = {mark: unicodedata.combining(mark) for mark in set(run)}
    # other characters than marks have the class 0, and no mark moves beyond them
    runs = groupby(run, key=lambda mark: classes[mark] != 0)
    return "".join("".join(sorted(marks, key=classes.__getitem__)) for _, marks in runs)


def printable(text: str) -> str:
    """`text` without control sequences: names come from files, and a terminal obeys what it is shown."""
    return text if text.isprintable() else normalize(text)


def listed(columns: Sequence[str]) -> str:
    """Return column names as a part of a sentence."""
    names = [shown(name) or "(no name)" for name in columns[:_MAX_LISTED]]
    n_more = len(columns) - len(names)
    return ", ".join(names) + (f" and {n_more} more" if n_more else "")


def shown(name: str, max_length: int = 40) -> str:
    """Return a name as one short printable piece of a message."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return shortened(printable, max_length)


def shortened(text: str, max_length: int) -> str:
    """Return a text, or its beginning and an ellipsis if it is longer."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def is_blank(text: str) -> bool:
    r"""Whether a text has only white space and invisible characters.

    Examples
    --------
    >>> is_blank(" \u200b"), is_blank("\u00ad-")
    (True, False)
    """
    return not normalize(text)


def normalize_lines(text: str) -> str:
    r"""Return `text` with each of its lines cleaned, and without empty lines.

    Examples
    --------
    >>> normalize_lines(" fever\r\n\r\n dry \t cough")
    'fever\ndry cough'
    """
    lines = (clean(line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _visible(text: str) -> str:
    """The text without characters that nobody sees; control characters become spaces, and lone surrogates U+FFFD."""
    if _HAS_UNSAFE.search(text):
        text = text.translate(_UNSAFE)
    text = _INVISIBLE.sub("", text)
    if "\u200c" in text or "\u200d" in text:
        text = _JOINER_RUN.sub(r"\1", _JOINERS.sub("", text))
    return text


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a normalized text; abbreviations, and marks inside parentheses and quotes, end none.

    Returns
    -------
    tuple of str
        At least one.

    Examples
    --------
    >>> sentences("No fever since Dr. Lee saw her. The cough (dry. At night) is back.")
    ('No fever since Dr. Lee saw her.', 'The cough (dry. At night) is back.')
    >>> sentences("Fieber seit Montag. Übelkeit morgens. Кашля нет.")
    ('Fieber seit Montag.', 'Übelkeit morgens.', 'Кашля нет.')
    >>> sentences("没有发烧。干咳。"), sentences("لا سعال. ألم في الركبة.")
    (('没有发烧。', '干咳。'), ('لا سعال.', 'ألم في الركبة.'))
    """
    # a character behind a full stop and a space begins a sentence if it is a capital, or a letter without case
    ends = [
        end
        for end in _SENTENCE.finditer(text)
        if end[1] is None or end[1].isascii() or (end[1].isalpha() and not end[1].islower())
    ]
    if not ends:
        return (text,)
    protected_text, pieces, start = protected(text), [], 0
    for end in ends:
        preceding = text[max(start, end.start() - _ABBREVIATION) : end.start()]
        if protected_text[end.start() - 1] or _NO_END.search(preceding):
            continue
        pieces.append(text[start : end.start()])
        start = end.end()
    return (*pieces, text[start:])


def protected(text: str) -> list[bool]:
    """Which characters are inside balanced parentheses, brackets or quotes.

    Returns
    -------
    list of bool
        One for each character; the marks themselves are inside.

    Examples
    --------
    >>> "".join(mark for mark, inside in zip("a (b [c]) d", protected("a (b [c]) d")) if inside)
    '(b [c])'
    """
    changes = [0] * (len(text) + 1)
    opened: list[tuple[str, int]] = []
    quotes = []
    for index, mark in enumerate(text):
        if mark == '"':
            quotes.append(index)
        elif mark in _OPEN:
            opened.append((_OPEN[mark], index))
        elif opened and mark == opened[-1][0]:
            changes[opened.pop()[1]] += 1
            changes[index + 1] -= 1
    for start, stop in zip(quotes[::2], quotes[1::2], strict=False):
        changes[start] += 1
        changes[stop + 1] -= 1
    return [depth > 0 for depth in accumulate(changes[:-1])]


def plain_number(text: str) -> float | None:
    """The number that a text is, in digits as people write them; None if it has anything else.

    Python's own ``float`` also reads ``1_0`` as 10, ``nan`` and ``infinity``.

    Examples
    --------
    >>> plain_number(" 1.5 "), plain_number("-2e3"), plain_number("1_0"), plain_number("1,5"), plain_number("nan")
    (1.5, -2000.0, None, None, None)
    >>> plain_number("\u22122")  # the minus sign of printed text and of Nordic spreadsheets
    -2.0
    """
    text = text.replace("\u2212", "-")
    return float(text) if _NUMBER.fullmatch(text.strip()) else None
