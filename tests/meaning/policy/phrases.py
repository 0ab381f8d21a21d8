"""Phrases with attributes labeled by hand before the recognizer was written, in two halves.

One half was never looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from softirr.text import normalize

Half = Literal["seen", "unseen"]
_KINDS = {
    "s": "severity",
    "l": "side",
    "t": "time",
    "n": "number",
    "c": "certainty",
    "x": "negation",
    "p": "subject",
    "k": "cause",
}
_SMALL = set(
    re.findall(
        r"\S+",
        "a an the of in on at to for with by from and or but is are was were has have had my his her their that "
        "which be i",
    )
)


@dataclass(frozen=True)
class Phrase:
    """A text and the (kind, wording) of its spans."""

    text: str
    spans: tuple[tuple[str, str], ...]

    @property
    def half(self) -> Half:
        """Part of the phrases that the text belongs to, by its hash."""
        return "unseen" if hashlib.blake2b(self.text.encode(), digest_size=2).digest()[0] % 2 else "seen"


def read_phrases() -> list[Phrase]:
    """All labeled phrases."""
    lines = (Path(__file__).with_suffix(".txt")).read_text(encoding="utf-8").splitlines()
    return [_phrase(line) for line in lines if line and not line.startswith("#")]


def _phrase(line: str) -> Phrase:
    spans = [(_KINDS[kind], wording) for kind, wording in re.findall(r"\{(\w) ([^}]*)\}", line)]
    return Phrase(re.sub(r"\{\w ([^}]*)\}", r"\1", line), tuple(spans))


def content(wording: str) -> str:
    """The words of a wording without those that introduce it, so that "of 3 cm" and "3 cm" are one span."""
    return " ".join(word for word in re.findall(r"[\w'%°+?/.-]+", normalize(wording).lower()) if word not in _SMALL)


def count(
    recognized: Iterable[tuple[str, str]], labeled: Iterable[tuple[str, str]]
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Right, wrong and missing spans of a phrase, by kind."""
    actual = Counter((kind, content(wording)) for kind, wording in recognized)
    want = Counter((kind, content(wording)) for kind, wording in labeled)
    right, wrong, missing = Counter(), Counter(), Counter()
    for counts, spans in ((right, actual & want), (wrong, actual - want), (missing, want - actual)):
        for (kind, _), n in spans.items():
            counts[kind] += n
    return right, wrong, missing
