"""How a reader understood an input, before anything is scored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from softirr.answers.files import read_texts
from softirr.answers.missing import left_out_marks
from softirr.answers.read_options import ReadOptions, takes_read_options
from softirr.answers.table import AnnotationTable, Reading
from softirr.json_object import JsonObject

_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Inspection(Reading, JsonObject):
    """A table of answers in figures, with how it was read.

    Attributes
    ----------
    n_items, n_answers, n_compared : int
        Items, answers that count, and items with answers of two raters.
    raters : tuple of (str, int)
        Raters and how many items each answered.
    texts_per_answer : dict of int to int
        Answers by their number of texts.
    n_missing : int
        Pairs of an item and a rater without an answer.
    n_empty : int
        Answers without a text.
    n_texts, n_duplicates : int
        Different texts, and texts that an item has from several raters in the same words.
    missing_marks : dict of str to dict of str to int
        Missing answers that are written as a text: rater -> text, such as NA -> how many.
    excluded : dict of str to int
        Answers that do not count, by reason.
    rows : tuple of (str, str, tuple of str)
        Item, rater and texts of the first ten answers.
    warnings : tuple of str
        Sentences about what is not certain.
    """

    n_items: int
    n_answers: int
    n_compared: int
    raters: tuple[tuple[str, int], ...]
    texts_per_answer: dict[int, int]
    n_missing: int
    n_empty: int
    n_texts: int
    n_duplicates: int
    missing_marks: dict[str, dict[str, int]]
    excluded: dict[str, int]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The inspection as JSON."""
        return super().to_dict() | {
            "columns": [{"role": role, "name": name} for role, name in self.columns],
            "raters": [{"id": name, "n_items": n} for name, n in self.raters],
            "texts_per_answer": {str(size): n for size, n in self.texts_per_answer.items()},
            "rows": [{"item": item, "rater": rater, "texts": list(texts)} for item, rater, texts in self.rows],
        }


@takes_read_options
def inspect(source: Any, options: ReadOptions | None = None, **keywords: Any) -> dict[str, Inspection]:
    r"""Describe how an input is understood, for each text in it.

    Parameters
    ----------
    source : path, file, data frame or rows
        As for :func:`softirr.read_texts`.
    options : ReadOptions, optional
        As for :func:`softirr.read_texts`.
    **keywords
        Single options by name, see :class:`softirr.ReadOptions`.

    Examples
    --------
    >>> import io
    >>> found = inspect(io.StringIO("item,rater,text\n1,ann,fever\n1,bob,\n2,ann,fever\n"))
    >>> found["text"].n_missing, found["text"].n_empty
    (1, 1)
    """
    return {name: inspected(table) for name, table in read_texts(source, options, **keywords).items()}


def inspected(table: AnnotationTable) -> Inspection:
    """A table in figures."""
    answers = list(zip(table.item.tolist(), table.answer.tolist(), strict=True))
    sizes = [len(table.answers[answer]) for _, answer in answers]
    answered = np.bincount(table.rater, minlength=len(table.raters)).tolist()
    per_item = np.bincount(table.item, minlength=len(table.items))
    first = zip(table.item.tolist()[:_SHOWN], table.rater.tolist(), table.answer.tolist(), strict=False)
    texts_of_items = Counter((item, text) for item, answer in answers for text in table.answers[answer])
    return Inspection(
        **vars(table.reading or Reading()),
        n_items=len(table.items),
        n_answers=len(table.item),
        n_compared=int((per_item > 1).sum()),
        raters=tuple(zip(table.raters, answered, strict=True)),
        texts_per_answer=dict(sorted(Counter(sizes).items())),
        n_missing=len(table.items) * len(table.raters) - len(table.item),
        n_empty=sizes.count(0),
        n_texts=len(table.texts),
        n_duplicates=sum(n > 1 for n in texts_of_items.values()),
        missing_marks=left_out_marks(table.excluded),
        excluded=dict(Counter(left_out.reason for left_out in table.excluded).most_common()),
        rows=tuple((table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in first),
        warnings=table.warnings,
    )
