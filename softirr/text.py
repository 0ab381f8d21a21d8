"""The normal form of texts: two texts are the same where their normal forms are equal."""

import unicodedata

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
_SURROGATES = dict.fromkeys(range(55296, 57344), "�")
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
