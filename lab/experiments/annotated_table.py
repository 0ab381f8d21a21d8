"""The answers of a table with their gold codes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from softirr.answers.table import AnnotationTable, Answer, Excluded
from softirr.errors import InputError


@dataclass(frozen=True)
class Coded:
    """An answer: its texts and the codes of their meaning.

    Attributes
    ----------
    texts : tuple of str
        Empty for "nothing found".
    by_text : mapping, optional
        The code of each text, where each has one.
    """

    item: str
    rater: str
    texts: tuple[str, ...]
    codes: tuple[str, ...]
    by_text: Mapping[str, str] | None = None


@dataclass(frozen=True, eq=False)
class GoldTable:
    """An annotated table.

    Attributes
    ----------
    excluded : tuple of Excluded
        Answers that were left out, with the reason.
    notes : tuple of str
        Remarks that readers of its results need.
    """

    name: str
    answers: tuple[Coded, ...]
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        answers: Iterable[Coded],
        *,
        path: Path,
        excluded: Iterable[Excluded] = (),
        notes: Iterable[str] = (),
    ) -> GoldTable:
        """The table; without an item that two raters answered there is nothing to compare.

        Raises
        ------
        InputError
        """
        coded_answers = tuple(answers)
        raters: dict[str, set[str]] = {}
        for answer in coded_answers:
            raters.setdefault(answer.item, set()).add(answer.rater)
        if sum(len(rater) > 1 for rater in raters.values()) < 2:
            raise InputError(
                f"{path}: fewer than two items have answers of two raters, so there is nothing to compare."
            )
        return cls(name, coded_answers, tuple(excluded), tuple(notes))

    @cached_property
    def table(self) -> AnnotationTable:
        """The texts of the raters."""
        return AnnotationTable.from_answers(
            (Answer(a.item, a.rater, a.texts) for a in self.answers), excluded=self.excluded
        )

    @cached_property
    def gold(self) -> AnnotationTable:
        """The codes as if they were texts; it has the rows of ``table``."""
        return AnnotationTable.from_answers(Answer(a.item, a.rater, a.codes) for a in self.answers)

    @cached_property
    def digest(self) -> str:
        """Hash of everything that results depend on: two tables with one digest give the same results."""
        rows = [[a.item, a.rater, a.texts, a.codes, sorted((a.by_text or {}).items())] for a in self.answers]
        return hashlib.sha256(json.dumps([self.name, rows], ensure_ascii=True).encode()).hexdigest()
