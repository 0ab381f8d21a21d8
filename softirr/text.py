"""The normal form of texts: two texts are the same where their normal forms are equal. And the sentences of a text."""

import re
import unicodedata

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
_SURROGATES = dict.fromkeys(range(55296, 57344), "�")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")
_NO_END = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|vs|approx|ca|no|nr|fig|st|e\.g|i\.e|etc|cf|pt|hx|resp|incl|[a-z])|\b\d)\.$",
    re.IGNORECASE,
)
_OPEN = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}
_UNSAFE = {**_CONTROLS, **_SURROGATES, 0xFEFF: ""}


def normalize(text: str, *, casefold: bool = False) -> str:
    r"""Return `text` in Unicode NFC with white space folded to single spaces and stripped.

    Control characters count as white space and lone surrogates become U+FFFD: databases and UTF-8 cannot hold them. Byte order marks
    (U+FEFF), which are invisible, are removed.

    Parameters
    ----------
    text : str
    casefold : bool
        Fold case too, so that "Fever" and "fever" are the same text.

    Examples
    --------
    >>> normalize("  heart\t attack\n")
    'heart attack'
    >>> normalize("e\u0301") == "\u00e9"
    True
    """
    if text.isascii() and text.isprintable():  # nearly all texts of most projects, in a fraction of the time
        return " ".join((text.lower() if casefold else text).split())
    text = " ".join(unicodedata.normalize("NFC", text.translate(_UNSAFE)).split())
    return unicodedata.normalize("NFC", text.casefold()) if casefold else text


def normalize_lines(text: str) -> str:
    r"""Return `text` with each of its lines normalized, and without empty lines.

    Examples
    --------
    >>> normalize_lines(" fever\r\n\r\n dry \t cough")
    'fever\ndry cough'
    """
    lines = (normalize(line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a normalized text; abbreviations, and marks inside parentheses and quotes, end none.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of str
        At least one.

    Examples
    --------
    >>> sentences("No fever since Dr. Lee saw her. The cough (dry. At night) is back.")
    ('No fever since Dr. Lee saw her.', 'The cough (dry. At night) is back.')
    """
    ends = list(_SENTENCE.finditer(text))
    if not ends:
        return (text,)
    kept, found, start = protected(text), [], 0
    for end in ends:
        if end.start() in kept or _NO_END.search(text[start : end.start()]):
            continue
        found.append(text[start : end.start()])
        start = end.end()
    return (*found, text[start:])


def protected(text: str) -> set[int]:
    """Places inside balanced parentheses, brackets and quotes."""
    found: set[int] = set()
    opened: list[tuple[str, int]] = []
    for place, mark in enumerate(text):
        if mark in _OPEN:
            opened.append((_OPEN[mark], place))
        elif opened and mark == opened[-1][0]:
            found.update(range(opened.pop()[1], place + 1))
    quotes = [place for place, mark in enumerate(text) if mark == '"']
    for start, stop in zip(quotes[::2], quotes[1::2], strict=False):
        found.update(range(start, stop + 1))
    return found
