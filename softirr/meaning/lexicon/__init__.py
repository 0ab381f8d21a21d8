"""Tables of English words: attributes and their values, opposites, units, numbers.

Every module reads its words from here.

``attributes.tsv`` has the wordings of values: kind of attribute, dimension (values of one dimension exclude each
other), value, the classes by which rules recognize the wordings, and the wordings. A wording without a value is
recognized, and not compared. ``opposites.tsv`` has words that exclude each other, ``units.tsv`` units of measurement,
``numbers.tsv`` number words, ``number_wordings.tsv`` other wordings of counts, amounts and grades, ``languages.tsv``
and ``scripts.tsv`` what languages are recognized by, ``word_order.tsv`` words across which others do not move,
``word_lists.tsv`` lists without further properties, ``spelling_variants.tsv`` replacements of usual variants,
``patterns.tsv`` and ``attribute_rules.tsv`` regular expressions (:mod:`softirr.meaning.policy.attributes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Entry:
    """One line of ``attributes.tsv``.

    Attributes
    ----------
    kind : str
        Of attribute: side, severity, ...
    dimension : str
        Subject of the value, such as the laterality of a side; empty if the wordings have no value.
    """

    kind: str
    dimension: str
    value: str
    classes: frozenset[str]
    wordings: tuple[str, ...]


def rows(name: str, package: str = "softirr.meaning.lexicon") -> list[list[str]]:
    """The cells of a table of words, without its header.

    Parameters
    ----------
    name : str
        Name of the file, without its ending.
    package : str
        Where the file is.
    """
    text = resources.files(package).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:] if line]


@cache
def entries() -> tuple[Entry, ...]:
    """All wordings of attributes."""
    return tuple(
        Entry(kind, dimension, value, frozenset(classes.split()), tuple(words.split(", ")))
        for kind, dimension, value, classes, words in rows("attributes")
    )


@cache
def word_list(name: str) -> tuple[str, ...]:
    """A list of words without further properties.

    Parameters
    ----------
    name : str
        Name of a line of ``word_lists.tsv``; ``unrelated`` has findings that have nothing to do with each other.

    Examples
    --------
    >>> word_list("break")
    ('but', 'however', 'although', 'though')
    """
    return next(tuple(words.split(", ")) for list_name, words in rows("word_lists") if list_name == name)


@cache
def wordings(kind: str, class_name: str = "", *, value: str = "") -> tuple[str, ...]:
    """The wordings of a kind of attribute, of one class or one value if these are named.

    Examples
    --------
    >>> wordings("side", "left_right"), wordings("side", "left_right", value="left")
    (('left', 'right'), ('left',))
    """
    return tuple(
        word
        for entry in entries()
        if entry.kind == kind and class_name in ("", *entry.classes) and value in ("", entry.value)
        for word in entry.wordings
    )


@cache
def opposites(use: str) -> tuple[tuple[str, str], ...]:
    """Pairs of words that exclude each other, left and right in all of their wordings among them.

    Parameters
    ----------
    use : str
        ``exclude``: texts that differ in them contradict each other; ``order``: two of them in one text belong to
        different words; ``contrast`` and ``prefix``: training makes contrasts of words, and of words that begin with
        them.

    Examples
    --------
    >>> ("left", "right") in opposites("exclude"), ("hyper", "hypo") in opposites("prefix")
    (True, True)
    """
    pairs = [(first, second) for first, second, uses in rows("opposites") if use in uses.split()]
    sides = [
        (left_word.rstrip("."), right_word.rstrip("."))
        for name in ("left_right", "short")  # a whole word with a whole word, a short form with a short form
        for left_word in wordings("side", name, value="left")
        for right_word in wordings("side", name, value="right")
    ]
    return tuple(pairs if use == "prefix" else (*pairs, *dict.fromkeys(sides)))


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some wordings, the longest first; a space inside one matches a hyphen, and the reverse.

    Returns
    -------
    str
        A regular expression without boundaries.

    Examples
    --------
    >>> re.findall(any_of(["on", "on-and off"]), "on and off")
    ['on and off']
    """
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.sub(r"\\? |\\-", r"[\\s-]", re.escape(word)) for word in ordered) + ")"
