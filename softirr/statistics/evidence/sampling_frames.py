"""The pairs of texts of a table that can be judged, the order of drawing, and their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from softirr.answers.ratings import Ints
from softirr.answers.sheets import Judgments
from softirr.errors import InputError
from softirr.meaning.measures.kinds import check_kind
from softirr.statistics.chance.sample import first_sample
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.known import known_pairs
from softirr.statistics.evidence.text_pairs import TextPairs
from softirr.statistics.matching.answer_scorer import AnswerScorer

_EVERY_TEXT_PAIRS = 1_000
"""Pairs of texts up to which all pairs of answers to different items are taken: exact chance scores them anyway."""


@dataclass(frozen=True)
class AuditUnit:
    """A pair of texts to be judged as the same in meaning or different.

    Attributes
    ----------
    id : str
        Identifies the pair without revealing anything about it; contains the seed.
    text_a, text_b : str
        The texts; the id determines which of them comes first.
    """

    id: str
    text_a: str
    text_b: str


class Frames:
    """The sampling frames of a table, and its units by id.

    Units do not depend on the order of the file: items and raters are sorted by id.

    Parameters
    ----------
    table : AnnotationTable
        Needs an item with answers of two raters.
    scorer : PairScorer
        Scores pairs of the table's texts.
    seed : int
        Seed of the drawing; part of the ids.
    assignment : str
        How the measure's sets are matched; part of the ids.

    Attributes
    ----------
    design : Design
        Pairs of texts of the table, and the order in which they are drawn.
    order : shape (n,)
        Rows of the table in the order of ``design.ratings``.
    prefix : str
        Prefix of all ids: the seed, and a hash of the answers and of the measure.

    Raises
    ------
    InputError
        If no item has answers of two raters.
    """

    def __init__(self, answers: AnswerScorer, seed: int) -> None:
        table, scorer = answers.table, answers.scorer
        check_kind(table, scorer.measure)
        self.table, self.scorer, self._answers = table, scorer, answers
        ratings, self.order = answers.ordered.ratings, answers.ordered.rows
        if not len(ratings.comparisons.left_rows):
            raise InputError("No item has answers of two raters: there is no agreement to audit.")
        self._truth = known_pairs(scorer.measure, table.texts)
        area = max(float(answers.sizes.mean()), 1.0) ** 2
        pool = first_sample(table.answers, is_cheap=scorer.cheap)
        all_up_to = int(_EVERY_TEXT_PAIRS / area)
        self.design = Design.of(ratings, self.text_pairs, answers.score, pool=pool, all_up_to=all_up_to, seed=seed)
        rows = [
            (table.items[table.item[row]], table.raters[table.rater[row]], table.texts_of(table.answer[row]))
            for row in self.order.tolist()
        ]
        of_answers = digest(repr(rows)) if table.is_single else digest(repr(rows), "text pairs")
        self.prefix = f"{seed}-{of_answers[:4]}{digest(scorer.measure.name, answers.method)[:4]}"

    def text_pairs(self, k: Ints, l: Ints) -> TextPairs:  # noqa: E741
        """The pairs of texts that could match in answers k[i] and l[i], without pairs of known truth."""
        return TextPairs.of(k, l, self._answers.sizes, self._answers.texts, self.scorer.score, self._truth)

    def unit(self, frame: int, member: int) -> AuditUnit:
        """The unit of a pair of texts; its id alone determines which text is first."""
        a, b = self.design.key(frame, member)
        first, second = sorted((self.table.texts[a], self.table.texts[b]))
        id = unit_id(self.prefix, first, second, of_item=not frame)
        if int(digest(stem(id), "side")[:2], 16) % 2 == 0:
            first, second = second, first
        return AuditUnit(id, first, second)

    def units(self) -> Iterator[AuditUnit]:
        """The units in the order of drawing, each once."""
        drawn_pairs: set[tuple[int, int]] = set()
        for frame, member in self.design.draws():
            pair = self.design.key(frame, member)
            if pair not in drawn_pairs:
                drawn_pairs.add(pair)
                yield self.unit(frame, member)


def unit_id(prefix: str, text_a: str, text_b: str, *, of_item: bool) -> str:
    """Id of a drawn pair of texts.

    Its last two digits encode whether it is a pair of the same item, because a table that has changed since may no
    longer show that. They are scrambled to hide it from judges.

    Parameters
    ----------
    prefix : str
        Seed, and a hash of the answers and of the measure: ``Frames.prefix``.
    text_a, text_b : str
        Normalized, in any order.
    of_item : bool
        Whether the texts are from answers to the same item.
    """
    end = digest(prefix, *sorted((text_a, text_b)))[:10]
    return f"{prefix}-{end}{of_item ^ _mask(prefix, end):02x}"


def stem(id: str) -> str:
    """The part of an id that identifies the pair of texts: in it, sheets of all releases agree."""
    prefix, _, end = id.rpartition("-")
    return f"{prefix}-{end[:10]}"


def is_of_item(id: str) -> bool | None:
    """Whether a unit was drawn as a pair of the same item; None for ids of earlier releases, which do not encode it."""
    prefix, _, end = id.rpartition("-")
    try:
        return None if len(end) != 12 else bool((int(end[10:], 16) ^ _mask(prefix, end[:10])) % 2)
    except ValueError:
        return None


def _mask(prefix: str, end: str) -> int:
    return int(digest(prefix, end, "weight")[:2], 16)


def digest(*texts: str) -> str:
    """Hash of texts.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    return hashlib.blake2b("\x1e".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def seed_of(sheets: Iterable[Judgments], default: int = 0) -> int:
    """Seed of the first id of some sheets.

    Parameters
    ----------
    default : int
        The seed if the sheets have no rows.

    Raises
    ------
    InputError
        If an id is not one of an audit's sheet.
    """
    seeds = []
    for sheet in sheets:
        for unit, pair in sheet.values:
            fields = unit.rsplit("-", 2)
            if len(fields) != 3 or not fields[0].lstrip("-").isdecimal():
                location = sheet.place((unit, pair))
                raise InputError(f"{location}: {unit!r} is not a unit drawn by softirr audit sample.")
            seeds.append(int(fields[0]))
    return seeds[0] if seeds else default
