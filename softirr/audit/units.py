"""Units of the audit: which pairs of answers of a table can be judged, in which order they are drawn, and by what id they are known again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from softirr.audit.design import Design
from softirr.errors import InputError
from softirr.matching.assignment import AnswerScorer
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import PairCache
from softirr.measures.pairs import PairScorer
from softirr.provenance import Progress
from softirr.tables.annotations import AnnotationTable, Answer
from softirr.tables.ratings import Floats, Ints, Ratings

_POOL = 20_000
"""Pairs of answers of different items that stand for all of them, where the measure is cheap."""
_COSTLY_TEXT_PAIRS = 3_000
"""The same in pairs of texts, where it is not."""
_LEAST_POOL = 500


@dataclass(frozen=True)
class TextPair:
    """Two texts to be judged: do they mean the same?"""

    number: int
    text_a: str
    text_b: str


@dataclass(frozen=True)
class AuditUnit:
    """A pair of answers to be judged.

    Attributes
    ----------
    id : str
        Says nothing about the pair, but recognises it; holds the seed.
    pairs : tuple of TextPair
        One for single texts; for sets, each text of the one answer with each of the other, but for texts that both have.
    """

    id: str
    pairs: tuple[TextPair, ...]


class Frames:
    """What is drawn from: the design of a table and its units by id."""

    def __init__(
        self,
        table: AnnotationTable,
        measure: str | Measure,
        seed: int,
        assignment: str,
        cache: PairCache | None,
        progress: Progress | None,
    ) -> None:
        self.table = table = _in_order(table)
        self.measure = measure_by_name(measure) if isinstance(measure, str) else measure
        scorer = PairScorer(self.measure, table.texts, cache=cache, progress=progress)
        self.answers = AnswerScorer(table, scorer, method=assignment)
        ratings = Ratings.of(table)
        if not len(ratings.comparisons.left):
            raise InputError("No item has answers of two raters: there is no agreement to audit.")
        self._sets = [frozenset(answer) for answer in table.answers]
        sizes = np.array([len(answer) for answer in table.answers], dtype=np.int64)
        pool = _POOL if table.is_single else _POOL // 2
        if not scorer.cheap:
            pool = max(_LEAST_POOL, int(_COSTLY_TEXT_PAIRS / max(float(sizes.mean()), 1.0) ** 2))
        self.design = Design.of(ratings, self.answers.score, self._known, pool=pool, seed=seed, sizes=sizes)
        rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
        told = [(table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows]
        self._prefix = f"{seed}-{digest(repr(told))[:4]}{digest(self.measure.name, assignment)[:4]}"

    def _known(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """True equivalence of answers that need not be judged: identical ones, and where one has nothing more to match."""
        value = np.full(len(k), np.nan)
        value[k == l] = 1.0
        if self.table.is_single:
            return value
        for place in np.flatnonzero(k != l).tolist():
            a, b = self._sets[k[place]], self._sets[l[place]]
            both = len(a & b)
            if both == min(len(a), len(b)):
                value[place] = 2 * both / (len(a) + len(b))
        return value

    def id(self, k: int, l: int) -> str:  # noqa: E741
        """Id of a pair of answers."""
        ends = sorted("\x1f".join(self.table.texts_of(answer)) for answer in (k, l))
        return f"{self._prefix}-{digest(self._prefix, *ends)[:10]}"

    def unit(self, k: int, l: int) -> AuditUnit:  # noqa: E741
        """The unit of a pair of answers: which of them stands first, and the order of its rows, hang on its id alone."""
        id = self.id(k, l)
        if int(digest(id, "side")[:2], 16) % 2 == (k < l):
            k, l = l, k  # noqa: E741
        shared = self._sets[k] & self._sets[l]
        texts = self.table.texts
        rows = [
            (texts[a], texts[b]) for a in self.table.answers[k] for b in self.table.answers[l] if not {a, b} & shared
        ]
        rows.sort(key=lambda row: digest(id, *row))
        return AuditUnit(id, tuple(TextPair(number, a, b) for number, (a, b) in enumerate(rows, start=1)))

    def found(self, ids: Mapping[str, str]) -> tuple[dict[str, tuple[AuditUnit, tuple[int, int]]], int]:
        """The units of some ids with their answers, and how many draws it takes until all have been drawn."""
        for id, place in ids.items():
            head, _, _ = id.rpartition("-")
            if head != self._prefix:
                same_table = head[:-4] == self._prefix[:-4]
                why = (
                    "with another measure or assignment"
                    if same_table
                    else "from other answers: the file has changed since"
                )
                raise InputError(
                    f"{place}: this unit was drawn {why}. Draw a new sheet, or give what it was drawn from."
                )
        missing = dict(ids)
        units = {}
        draws = 0
        seen: set[tuple[int, int]] = set()
        for frame, member in self.design.draws():
            if not missing:
                break
            draws += 1
            pair = self.design.key(frame, member)
            if pair in seen:
                continue
            seen.add(pair)
            id = self.id(*pair)
            if missing.pop(id, None) is not None:
                units[id] = self.unit(*pair), pair
        if missing:
            raise InputError(f"{next(iter(missing.values()))}: this unit was never drawn from these answers.")
        return units, draws


def _in_order(table: AnnotationTable) -> AnnotationTable:
    """The same answers with items and raters sorted by id: units do not depend on the order in which a file has them."""
    rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
    given = sorted((table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows)
    return AnnotationTable.from_answers(Answer(*row) for row in given)


def digest(*parts: str) -> str:
    return hashlib.blake2b("\x1e".join(parts).encode("utf-8"), digest_size=16).hexdigest()


def seed_of(ids: Mapping[str, str]) -> int:
    seeds: dict[int, str] = {}
    for id, place in ids.items():
        parts = id.rsplit("-", 2)
        if len(parts) != 3 or not parts[0].lstrip("-").isdecimal():
            raise InputError(f"{place}: {id!r} is no unit that audit sample has drawn.")
        seeds.setdefault(int(parts[0]), place)
    if len(seeds) > 1:
        first, second = list(seeds)[:2]
        raise InputError(
            f"{seeds[second]}: this unit was drawn with seed {second}, others with seed {first}; apply sheets of one seed together."
        )
    return next(iter(seeds))
