"""An answer of a rater to an item, and answers that do not count, with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from softirr.errors import InputError

SKIPPED = "skipped"
DRAFT = "draft, not submitted"
COPIED = "copied from a prediction"
COPIED_AND_EDITED = "copied from a prediction and edited"
AGREED = "the agreed answer, which is nobody’s own answer"
OLDER_DUPLICATE = "older answer of the same rater"
NEWER_DUPLICATE = "another answer of the same rater"
NO_RATER = "no annotator named"
MODEL = "model:"
"""Prefix of the names of raters that are models."""
REFERENCE = "reference"
"""The rater who is what models are graded against, and no person."""


@dataclass(frozen=True)
class Answer:
    """Texts of a rater about an item; ``texts=()`` is a submitted, empty answer.

    A string is one text: ``Answer("1", "ann", "fever")`` is ``Answer("1", "ann", ("fever",))``. If texts were split,
    ``written`` has them as they were.

    Raises
    ------
    InputError
        If a text is not a string, such as the NaN of a data frame.
    """

    item: str
    rater: str
    texts: tuple[str, ...]
    written: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        texts: Any = (self.texts,) if isinstance(self.texts, str) else self.texts
        texts_of_answer = tuple(texts) if isinstance(texts, Iterable) else (texts,)
        for text in texts_of_answer:
            if not isinstance(text, str):
                raise InputError(
                    f"An answer has {text!r}, which is not a text: leave out an answer that is missing, "
                    "and give () for an empty one."
                )
        object.__setattr__(self, "texts", texts_of_answer)


@dataclass(frozen=True)
class Excluded:
    """An answer to an item that does not count, with the reason (such as ``skipped``); the rater may be empty."""

    item: str
    rater: str
    reason: str
