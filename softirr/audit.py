"""The audit: a person judges a small random sample of pairs, and the coefficients are right whatever the measure.

``sample`` draws units and writes them as a sheet of texts only; ``apply`` reads judged sheets and gives the audited coefficients. A unit is a
pair of answers: of two raters to one item, or of different items (agreement by chance). A unit of sets has a row for each pair of
texts that could match: all but those that stand in both sets, which match each other. Identical answers are never asked.

"First is more general" and "second is more general" say that the two texts are not equivalent: they count as different. "Can't tell" and an
empty judgement count as not judged; the estimate takes units that were not judged as missing at random.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr import chance as chances
from softirr.agreement import DEFAULT_MEASURE, AgreementReport, agreement
from softirr.annotations import AnnotationTable, Answer
from softirr.annotations import _contents as contents
from softirr.assignment import AnswerScorer, set_equivalence
from softirr.cache import MemoryCache, PairCache
from softirr.coefficients import Floats, Ints, Ratings
from softirr.difference import AUDITED, Audited, Design, estimate
from softirr.equivalence import Measure
from softirr.equivalence import measure as measure_by_name
from softirr.equivalence.base import Progress
from softirr.errors import InputError
from softirr.intervals import Coefficient
from softirr.pairs import PairScorer
from softirr.report import Expected
from softirr.text import normalise

SAME = "same"
DIFFERENT = "different"
FIRST_MORE_GENERAL = "first is more general"
SECOND_MORE_GENERAL = "second is more general"
CANT_TELL = "can't tell"
VALUES = (SAME, DIFFERENT, FIRST_MORE_GENERAL, SECOND_MORE_GENERAL, CANT_TELL)
"""What a judge can say of two texts."""

HEADER = ("unit", "pair", "text_a", "text_b", "judgement")
WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report says how many judgements they need."""
JUDGEMENTS = 60

_POOL = 20_000
"""Pairs of answers of different items that stand for all of them, where the measure is cheap."""
_COSTLY_TEXT_PAIRS = 3_000
"""The same in pairs of texts, where it is not."""
_LEAST_POOL = 500
_LEAST_JUDGED = 8
_NOT_AUDITED = "the audit does not cover it"
_MARKS = {
    **{value: value for value in VALUES},
    "cant tell": CANT_TELL,
    "can’t tell": CANT_TELL,
    "": "",
}


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


@dataclass(frozen=True)
class AuditSheet:
    """Units in the order in which they are to be judged, which is random: a sheet judged in part is a random sample too."""

    units: tuple[AuditUnit, ...]

    def to_csv(self) -> str:
        """The sheet as CSV with the columns of ``HEADER``; the last one is empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        for unit in self.units:
            writer.writerows((unit.id, pair.number, pair.text_a, pair.text_b, "") for pair in unit.pairs)
        return out.getvalue()


@dataclass(frozen=True)
class Judgements:
    """What one judge said.

    Attributes
    ----------
    judge : str
        Whose they are; a file's name.
    values : mapping of (unit id, pair number) to str
        One of ``VALUES``, or empty.
    texts : mapping of (unit id, pair number) to (str, str)
        The texts that were judged, where they are known: they are held against the table.
    places : mapping of (unit id, pair number) to str
        File and line, for messages.
    """

    judge: str
    values: Mapping[tuple[str, int], str]
    texts: Mapping[tuple[str, int], tuple[str, str]] | None = None
    places: Mapping[tuple[str, int], str] | None = None

    def place(self, key: tuple[str, int]) -> str:
        """Where a judgement stands."""
        found = self.places.get(key) if self.places else None
        return found or f"{self.judge}, unit {key[0]}, pair {key[1]}"


@dataclass(frozen=True)
class AuditSummary:
    """What the audit rests on, the object ``audit`` of the report.

    Attributes
    ----------
    judgements : int
        Pairs of texts that were judged, each once however many judges it had.
    units : int
        Units judged.
    asked : int
        Units in the sheets.
    plain : dict of str to float or None
        The coefficients without the audit.
    off : dict of str to float or None
        Plain minus audited.
    needed_for_width : dict of str to int or None
        Units to judge in all (``judgements`` of :func:`sample`) that bring the interval of Cohen's kappa (or the first that is defined) to about a width; None where even judging
        everything would not, because the items themselves are a sample.
    judges : int
    judges_agreement : dict or None
        With several judges: pairs of texts judged by two or more, the observed agreement on them, and Krippendorff's alpha.
    """

    judgements: int
    units: int
    asked: int
    plain: dict[str, float | None]
    off: dict[str, float | None]
    needed_for_width: dict[str, int | None]
    judges: int
    judges_agreement: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "judgements": self.judgements,
            "units": self.units,
            "asked": self.asked,
            "plain": dict(self.plain),
            "off": dict(self.off),
            "needed_for_width": dict(self.needed_for_width),
            "judges": self.judges,
            "judges_agreement": self.judges_agreement,
        }


@dataclass(frozen=True)
class AuditReport:
    """An agreement report with audited coefficients; raters, rater pairs and items are still the measure's."""

    report: AgreementReport
    audit: AuditSummary

    @property
    def coefficients(self) -> dict[str, Coefficient]:
        """The audited coefficients."""
        return self.report.coefficients

    def to_dict(self) -> dict[str, Any]:
        """The object of design section 6, with ``audit``."""
        return {**self.report.to_dict(), "audit": self.audit.to_dict()}

    def lines(self) -> list[str]:
        """What the audit found, for people."""
        audit = self.audit
        result = [f"{audit.judgements} judgements on {audit.units} of {audit.asked} units."]
        for name in AUDITED:
            found = self.coefficients[name]
            if found.value is None or found.ci95 is None:
                continue
            low, high = found.ci95
            line = f"{name.replace('_', ' ')}: {found.value:.3f} (95% interval {low:.3f} to {high:.3f})"
            off = audit.off[name]
            if off is not None:
                line += f"; the measure alone said {audit.plain[name]:.3f}, {abs(off):.3f} too {'high' if off > 0 else 'low'}"
            result.append(line + ".")
        for width, total in audit.needed_for_width.items():
            if total is not None and total > audit.units:
                result.append(f"About {total - audit.units} more units bring the interval to a width of {width}.")
        if audit.judges_agreement:
            own = audit.judges_agreement
            alpha = "not defined" if own["krippendorff_alpha"] is None else f"{own['krippendorff_alpha']:.2f}"
            result.append(
                f"The {audit.judges} judges agree on {own['observed_agreement']:.0%} of {own['pairs']} pairs (alpha {alpha})."
            )
        return result


def sample(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    judgements: int = JUDGEMENTS,
    seed: int = 0,
    assignment: str = "optimal",
    without: Collection[str] = (),
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> AuditSheet:
    """Draw units to be judged.

    Parameters
    ----------
    table : AnnotationTable
    measure : str or Measure
        Where it is unsure, more units are drawn.
    judgements : int
        How many units (pairs of answers). A larger number with the same seed draws the same units and more.
    seed : int
    assignment : {"optimal", "greedy"}
        How the measure's sets are matched.
    without : collection of str
        Ids of units to leave out of the sheet, because they were judged already.
    cache, progress
        As for :func:`softirr.agreement.agreement`.

    Raises
    ------
    InputError
        If there is nothing to judge.
    """
    if judgements < 1:
        raise InputError(f"The number of judgements is {judgements}, but has to be at least 1.")
    frames = _Frames(table, measure, seed, assignment, cache, progress)
    wanted: dict[tuple[int, int], None] = {}
    for frame, member in frames.design.draws():
        wanted.setdefault(frames.design.key(frame, member))
        if len(wanted) == judgements:
            break
    if not wanted:
        raise InputError("There is nothing to judge: no two answers to one item differ.")
    units = sorted((frames.unit(*pair) for pair in wanted), key=lambda unit: _digest(unit.id, "order"))
    return AuditSheet(tuple(unit for unit in units if unit.id not in without))


def apply(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    sheets: Sequence[Judgements | str | os.PathLike[str]] = (),
    *,
    assignment: str = "optimal",
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> AuditReport:
    """Audited coefficients.

    Parameters
    ----------
    table : AnnotationTable
        The one that the units were drawn from.
    measure : str or Measure
        The one that they were drawn with.
    sheets : sequence of Judgements or paths
        Sheets with the same seed: one grown out of the other, or of several judges. Where several judged a pair of texts, their mean counts.
    assignment, cache, progress
        As for :func:`sample`.

    Raises
    ------
    InputError
        If a sheet does not belong to this table and measure, contradicts itself, or too little was judged.
    """
    read = [sheet if isinstance(sheet, Judgements) else read_sheet(sheet) for sheet in sheets]
    ids = {unit: judgements.place((unit, pair)) for judgements in read for unit, pair in judgements.values}
    if not ids:
        raise InputError("The sheets hold no units: apply at least one sheet that audit sample has drawn.")
    seed = _seed(ids)
    store = cache if cache is not None else MemoryCache()
    frames = _Frames(table, measure, seed, assignment, store, progress)
    units, draws = frames.found(ids)
    _check_texts(read, units)
    judged = _judged(read, frames, units)
    _check_enough(frames.design, judged, draws)
    plain = agreement(table, frames.measure, assignment=assignment, cache=store, progress=progress)
    ratings = frames.design.ratings
    chance = chances.permutation(
        ratings, frames.answers, permutations=5 if frames.answers.scorer.cheap else 2, seed=seed
    )
    audited = estimate(frames.design, judged.units, draws, chance)
    return _report(plain, audited, judged, len(ids))


# --- units ------------------------------------------------------------------------------------------------------------


class _Frames:
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
        pool = _POOL if table.is_single else _POOL // 2
        if not scorer.cheap:
            size = float(np.mean([len(answer) for answer in table.answers]))
            pool = max(_LEAST_POOL, int(_COSTLY_TEXT_PAIRS / max(size, 1.0) ** 2))
        self.design = Design.of(ratings, self.answers.score, self._known, pool=pool, seed=seed)
        rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
        told = [(table.items[i], table.raters[r], table.texts_of(a)) for i, r, a in rows]
        self._prefix = f"{seed}-{_digest(repr(told))[:4]}{_digest(self.measure.name, assignment)[:4]}"

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
        return f"{self._prefix}-{_digest(self._prefix, *ends)[:10]}"

    def unit(self, k: int, l: int) -> AuditUnit:  # noqa: E741
        """The unit of a pair of answers: which of them stands first, and the order of its rows, hang on its id alone."""
        id = self.id(k, l)
        if int(_digest(id, "side")[:2], 16) % 2 == (k < l):
            k, l = l, k  # noqa: E741
        shared = self._sets[k] & self._sets[l]
        texts = self.table.texts
        rows = [
            (texts[a], texts[b]) for a in self.table.answers[k] for b in self.table.answers[l] if not {a, b} & shared
        ]
        rows.sort(key=lambda row: _digest(id, *row))
        return AuditUnit(id, tuple(TextPair(number, a, b) for number, (a, b) in enumerate(rows, start=1)))

    def found(self, ids: Mapping[str, str]) -> tuple[dict[str, tuple[AuditUnit, tuple[int, int]]], int]:
        """The units of some ids with their answers, and how many draws it takes until all have been drawn."""
        for id, place in ids.items():
            head, _, _ = id.rpartition("-")
            if head != self._prefix:
                same_table = head[:-4] == self._prefix[:-4]
                why = "with another measure" if same_table else "from other answers: the file has changed since"
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


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\x1e".join(parts).encode("utf-8"), digest_size=16).hexdigest()


def _seed(ids: Mapping[str, str]) -> int:
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


# --- judgements -------------------------------------------------------------------------------------------------------


def read_sheet(source: str | os.PathLike[str] | io.TextIOBase, *, judge: str | None = None) -> Judgements:
    """Read a judged sheet.

    Parameters
    ----------
    source : path, "-" for standard input, or open text stream
        CSV with the columns of ``HEADER``; a spreadsheet may have put semicolons or tabs for the commas.
    judge : str, optional
        Who judged; the file's name by default.

    Raises
    ------
    InputError
        Says the file and the line.
    """
    name, text = contents(source)
    header = text.partition("\n")[0].rstrip("\r")
    for delimiter in ",;\t":
        columns = [column.strip().casefold() for column in next(csv.reader([header], delimiter=delimiter), [])]
        if set(HEADER) <= set(columns):
            break
    else:
        raise InputError(f"{name} is no sheet of audit sample: line 1 has to be {','.join(HEADER)}.")
    at = [columns.index(column) for column in HEADER]
    values: dict[tuple[str, int], str] = {}
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    places: dict[tuple[str, int], str] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        next(reader)
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            place = f"{name}, line {reader.line_num}"
            if len(row) <= max(at):
                raise InputError(f"{place}: the row has {len(row)} columns, but {len(HEADER)} are needed.")
            unit, number, text_a, text_b, judgement = (row[i] for i in at)
            if not number.strip().isdecimal():
                raise InputError(f"{place}: the pair is {number!r}, not a number.")
            key = unit.strip(), int(number)
            value = _mark(judgement, place)
            if key in values and values[key] != value:
                raise InputError(f"{place}: this pair stands in the sheet twice, with different judgements.")
            values[key], texts[key], places[key] = value, (text_a, text_b), place
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: not valid CSV ({error}).") from None
    return Judgements(judge or name, values, texts, places)


def _mark(judgement: str, place: str) -> str:
    mark = " ".join(judgement.casefold().split())
    if mark not in _MARKS:
        raise InputError(f"{place}: the judgement is {judgement.strip()!r}, but can be {', '.join(VALUES)}, or empty.")
    return _MARKS[mark]


def _check_texts(sheets: Iterable[Judgements], units: Mapping[str, tuple[AuditUnit, tuple[int, int]]]) -> None:
    """Refuse pairs that a unit does not have, and texts that are not the table's."""
    for sheet in sheets:
        for key, value in sheet.values.items():
            _mark(value, sheet.place(key))
            pairs = units[key[0]][0].pairs
            if not 1 <= key[1] <= len(pairs):
                raise InputError(f"{sheet.place(key)}: unit {key[0]} has no pair {key[1]}.")
            told = sheet.texts.get(key) if sheet.texts else None
            pair = pairs[key[1] - 1]
            if told is not None and tuple(map(normalise, told)) != (normalise(pair.text_a), normalise(pair.text_b)):
                raise InputError(
                    f"{sheet.place(key)}: the texts are not those that were drawn; leave them as they are."
                )


@dataclass(frozen=True)
class _Judged:
    """Judgements of all judges put together.

    Attributes
    ----------
    units : dict
        True equivalence of pairs of answers.
    pairs : int
        Pairs of texts judged.
    judges : int
    agreement : dict or None
    """

    units: dict[tuple[int, int], float]
    pairs: int
    judges: int
    agreement: dict[str, Any] | None


def _judged(
    sheets: Sequence[Judgements], frames: _Frames, units: Mapping[str, tuple[AuditUnit, tuple[int, int]]]
) -> _Judged:
    said: dict[tuple[str, int], dict[str, bool]] = {}
    for sheet in sheets:
        for key, value in sheet.values.items():
            mark = _MARKS[" ".join(value.casefold().split())]
            if mark not in ("", CANT_TELL):
                judges = said.setdefault(key, {})
                if judges.setdefault(sheet.judge, mark == SAME) != (mark == SAME):
                    raise InputError(f"{sheet.place(key)}: {sheet.judge} judged this pair twice, differently.")
    found: dict[tuple[int, int], float] = {}
    for id, (unit, answers) in units.items():
        who = sorted({judge for pair in unit.pairs for judge in said.get((id, pair.number), ())})
        values = [
            _equivalence(frames, answers, unit, {p.number: said.get((id, p.number), {}).get(j) for p in unit.pairs})
            for j in who
        ]
        whole = [value for value in values if value is not None]
        if whole:
            found[answers] = float(np.mean(whole))
    names = {judge for judges in said.values() for judge in judges}
    return _Judged(found, len(said), len(names), _judges_agreement(said))


def _equivalence(
    frames: _Frames, answers: tuple[int, int], unit: AuditUnit, same: Mapping[int, bool | None]
) -> float | None:
    """Equivalence of two answers by one judge's word; None where a pair that was not judged could change it."""
    k, l = answers  # noqa: E741
    texts = frames.table.texts_of(k), frames.table.texts_of(l)
    if len(unit.pairs) == 1 and len(texts[0]) == len(texts[1]) == 1:
        value = same[1]
        return None if value is None else float(value)
    rows, cols = ({text: i for i, text in enumerate(side)} for side in texts)
    weights = np.array([[a == b for b in texts[1]] for a in texts[0]], dtype=np.float64)
    open_: list[tuple[int, int]] = []
    for pair in unit.pairs:
        value = same[pair.number]
        turned = pair.text_a not in rows or pair.text_b not in cols
        a, b = (pair.text_b, pair.text_a) if turned else (pair.text_a, pair.text_b)
        if value is None:
            open_.append((rows[a], cols[b]))
        else:
            weights[rows[a], cols[b]] = value
    low = set_equivalence(weights)
    # the texts of one answer differ in meaning: what is the same as one of them is different from the others
    free = [(i, j) for i, j in open_ if not weights[i].any() and not weights[:, j].any()]
    for i, j in free:
        weights[i, j] = 1.0
    return low if set_equivalence(weights) == low else None


def _judges_agreement(said: Mapping[tuple[str, int], Mapping[str, bool]]) -> dict[str, Any] | None:
    """How far the judges agree on the pairs of texts that two or more judged."""
    names = sorted({judge for judges in said.values() for judge in judges})
    shared = [judges for judges in said.values() if len(judges) > 1]
    if len(names) < 2 or not shared:
        return None
    from softirr import coefficients as co

    matrix = np.array([[int(judges[name]) if name in judges else -1 for name in names] for judges in shared])
    ratings = Ratings.from_matrix(matrix)
    identity = chances.MatrixEquivalence(np.eye(2))
    comparisons = ratings.comparisons
    scores = (ratings.answer[comparisons.left] == ratings.answer[comparisons.right]).astype(np.float64)
    known = chances.exact(ratings, identity, scores)
    return {
        "pairs": len(shared),
        "observed_agreement": co.observed_agreement(ratings, scores).value,
        "krippendorff_alpha": co.krippendorff(ratings, scores, known).value,
    }


def _check_enough(design: Design, judged: _Judged, draws: int) -> None:
    """Both frames need some judged units, as far as they have any to judge."""
    count = [0, 0]
    keys: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for _, (frame, member) in zip(range(draws), design.draws(), strict=False):
        keys[frame].add(design.key(frame, member))
    for frame in (0, 1):
        count[frame] = sum(pair in judged.units for pair in keys[frame])
    there = [sum(map(len, frame.queues)) for frame in (design.same, design.different)]
    if (len(judged.units) < _LEAST_JUDGED and sum(there) > len(judged.units)) or any(
        count[i] < min(2, there[i]) for i in (0, 1)
    ):
        raise InputError(
            f"Only {len(judged.units)} units are judged in full, which is too little for an interval: judge at least {_LEAST_JUDGED} more."
        )


# --- report -----------------------------------------------------------------------------------------------------------


def _report(plain: AgreementReport, audited: Audited, judged: _Judged, asked: int) -> AuditReport:
    coefficients = {
        name: audited.coefficients[name] if name in AUDITED else Coefficient(None, undefined=_NOT_AUDITED)
        for name in plain.coefficients
    }
    before = {name: plain.coefficients[name].value for name in AUDITED}
    off = {
        name: None if value is None or coefficients[name].value is None else value - (coefficients[name].value or 0.0)
        for name, value in before.items()
    }
    expected = Expected(
        audited.expected["cohen"],
        audited.expected["fleiss"],
        audited.expected["krippendorff"],
        "audit",
        audited.expected_error,
        plain.expected_agreement.pairs_scored,
    )
    summary = AuditSummary(
        judged.pairs,
        len(judged.units),
        asked,
        before,
        off,
        _needed(audited, len(judged.units)),
        judged.judges,
        judged.agreement,
    )
    return AuditReport(replace(plain, coefficients=coefficients, expected_agreement=expected), summary)


def _needed(audited: Audited, units: int) -> dict[str, int | None]:
    """Units in all for each of ``WIDTHS``, by the variances seen so far."""
    order = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "observed_agreement")
    name = next((name for name in order if audited.coefficients[name].value is not None), None)
    if name is None:
        return {str(width): None for width in WIDTHS}

    def reaches(width: float, more: float) -> bool:
        found = audited.widths(name, more)
        return found is not None and found <= width

    needed: dict[str, int | None] = {}
    for width in WIDTHS:
        low, high = 0.05, 1_000.0
        if not reaches(width, high):
            needed[str(width)] = None
            continue
        while high / low > 1.01:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if reaches(width, middle) else (middle, high)
        needed[str(width)] = math.ceil(units * high)
    return needed
