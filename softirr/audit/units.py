"""Units of the audit: the pairs of texts of a table that can be judged, the order of drawing, and their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.audit.design import Design, TextPairs
from softirr.errors import InputError
from softirr.matching.assignment import AnswerScorer
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import PairCache
from softirr.measures.pairs import PairScorer
from softirr.provenance import Progress
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.tables.table import AnnotationTable, Answer
from softirr.tables.weights import refuse_weights

__all__ = ["AuditUnit", "Frames", "digest", "proxy_scores", "seed_of"]

_POOL = 20_000
"""Sampled pairs of answers to different items, where the measure is cheap; half as many where answers are sets."""
_TEXT_PAIRS = 400_000
_COSTLY_TEXT_PAIRS = 3_000
"""Most pairs of texts of the sampled answers: for a cheap measure, and for others."""
_LEAST_POOL = 500


@dataclass(frozen=True)
class AuditUnit:
    """A pair of texts to be judged as the same in meaning or different.

    Attributes
    ----------
    id : str
        Identifies the pair without revealing anything about it; contains the seed.
    text_a, text_b : str
    """

    id: str
    text_a: str
    text_b: str


class Frames:
    """The sampling frames of a table, and its units by id."""

    def __init__(
        self,
        table: AnnotationTable,
        measure: str | Measure,
        seed: int,
        assignment: str,
        cache: PairCache | None,
        progress: Progress | None,
    ) -> None:
        refuse_weights(table, "An audit")
        self.table = table = _in_order(table)
        self.measure = measure_by_name(measure) if isinstance(measure, str) else measure
        scorer = self.scorer = PairScorer(self.measure, table.texts, cache=cache, progress=progress)
        self.answers = AnswerScorer(table, scorer, method=assignment)
        ratings = Ratings.of(table)
        if not len(ratings.comparisons.left):
            raise InputError("No item has answers of two raters: there is no agreement to audit.")
        self.sizes = np.array([len(answer) for answer in table.answers], dtype=np.int64)
        self.members = np.array([text for answer in table.answers for text in answer], dtype=np.int64)
        pool = _POOL if table.is_single else _POOL // 2
        area = max(float(self.sizes.mean()), 1.0) ** 2
        pool = max(_LEAST_POOL, min(pool, int((_TEXT_PAIRS if scorer.cheap else _COSTLY_TEXT_PAIRS) / area)))
        self.design = Design.of(ratings, self.answers.score, self.text_pairs, pool=pool, seed=seed)
        rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
        told = [(table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows]
        end = digest(self.measure.name, assignment)[:4]
        self._earlier = f"{seed}-{digest(repr(told))[:4]}{end}"
        self._prefix = self._earlier if table.is_single else f"{seed}-{digest(repr(told), 'text pairs')[:4]}{end}"

    def text_pairs(self, k: Ints, l: Ints) -> TextPairs:  # noqa: E741
        """The pairs of texts that could match in answers k[i] and l[i]."""
        return TextPairs.of(k, l, self.sizes, self.members, self.scorer.score)

    def id(self, a: int, b: int) -> str:
        """Id of a pair of texts."""
        return f"{self._prefix}-{digest(self._prefix, *sorted((self.table.texts[a], self.table.texts[b])))[:10]}"

    def unit(self, a: int, b: int) -> AuditUnit:
        """The unit of a pair of texts; its id alone determines which text is first."""
        id = self.id(a, b)
        if int(digest(id, "side")[:2], 16) % 2 == (a < b):
            a, b = b, a
        return AuditUnit(id, self.table.texts[a], self.table.texts[b])

    def found(self, ids: Mapping[str, str]) -> tuple[dict[str, tuple[AuditUnit, tuple[int, int]]], int]:
        """The units of some ids with their texts' numbers, and the number of draws until all of them are drawn."""
        for id, place in ids.items():
            head, _, _ = id.rpartition("-")
            if head != self._prefix:
                if head == self._earlier:
                    why = "by an earlier release, which drew answers of several texts as a whole"
                elif head[:-4] == self._prefix[:-4]:
                    why = "with another measure or assignment"
                else:
                    why = "from other answers: the file has changed since"
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


def proxy_scores(
    frames: Frames,
    proxies: Sequence[Measure],
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats] | None:
    """P by other measures, of the pairs of texts of both frames.

    Parameters
    ----------
    frames : Frames
    proxies : sequence of Measure
    cache, progress
        As for :class:`Frames`.

    Returns
    -------
    (shape (E, d), shape (E', d)) or None
        One column a measure; None without measures.
    """
    if not proxies:
        return None
    scorers = [PairScorer(one, frames.table.texts, cache=cache, progress=progress) for one in proxies]
    same, different = (
        np.column_stack([np.asarray(scorer.score(texts.left, texts.right), dtype=np.float64) for scorer in scorers])
        for texts in (frames.design.same.texts, frames.design.different.texts)
    )
    return same, different


def _in_order(table: AnnotationTable) -> AnnotationTable:
    """The same answers with items and raters sorted by id, so that units do not depend on the order of the file."""
    rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
    given = sorted((table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows)
    return AnnotationTable.from_answers(Answer(*row) for row in given)


def digest(*parts: str) -> str:
    """Hash of texts.

    Parameters
    ----------
    *parts : str

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    return hashlib.blake2b("\x1e".join(parts).encode("utf-8"), digest_size=16).hexdigest()


def seed_of(ids: Mapping[str, str]) -> int:
    """Seed in the ids of a sheet; all ids must have the same seed.

    Parameters
    ----------
    ids : mapping of str to str
        Where each id stands, for the message.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If an id is not one of an audit's sheet, or the ids have different seeds.
    """
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
