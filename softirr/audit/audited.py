"""The audit: judgements of a small random sample of pairs correct the coefficients, whatever the measure.

``sample`` draws units and writes them as a sheet that contains texts only; ``apply`` reads judged sheets and computes the audited
coefficients. A unit is a pair of texts of two raters, from their answers to one item or to different items (agreement by chance). N units
are N judgements, also where answers are sets of texts. Identical texts, and texts that occur in both answers, are never in a sheet.

"First is more general" and "second is more general" mean that the two texts are not equivalent and count as different. "Can't tell" and an
empty judgement count as not judged; the estimate treats such units as missing at random.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softirr.audit.design import Design
from softirr.audit.estimate import AUDITED, Audited, estimate
from softirr.audit.units import AuditUnit, Frames, digest, proxy_scores, seed_of
from softirr.chance import estimates as chances
from softirr.coefficients.informed import Informed, grid
from softirr.coefficients.intervals import Coefficient
from softirr.errors import InputError
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.automatic import CacheOption, ProgressOption, cache_and_progress
from softirr.measures.cache import MemoryCache
from softirr.measures.known_errors import known_error
from softirr.policy.measure import policy_of, under_policy
from softirr.report.agreement import AgreementReport, agreement
from softirr.report.frames import FrameKind
from softirr.report.html import report_html
from softirr.report.objects import Expected
from softirr.report.text import report_lines
from softirr.tables.cells import plain_cell
from softirr.tables.ratings import Floats, Ratings
from softirr.tables.sheets import CANT_TELL, HEADER, SAME, VALUES, Judgements, checked, read_sheet
from softirr.tables.table import AnnotationTable
from softirr.text import normalize

__all__ = [
    "JUDGEMENTS",
    "ONLY",
    "VALUES",
    "WIDTHS",
    "AuditReport",
    "AuditSheet",
    "AuditSummary",
    "AuditUnit",
    "Judgements",
    "apply",
    "judges_agreement",
    "read_sheet",
    "sample",
]

WIDTHS = (0.05, 0.1, 0.2)
"""Widths of the interval for which the report gives the number of judgements needed."""
JUDGEMENTS = 60

ONLY = 1
"""The number of a unit's pair of texts in a sheet: there is one."""

_BLOCK = 10
"""Units whose order is random: each block has its share of every stratum, so that few judgements say as much as they can."""
_LEAST_JUDGED = 8
_NOT_AUDITED = "the audit does not cover it"
_PLAIN_PARTS = "The audit corrects the coefficients of the whole table. Raters, rater pairs and items are scored by the measure alone."


@dataclass(frozen=True)
class AuditSheet:
    """Units in the order in which they are judged, random within blocks of ten, so that the beginning of a sheet is a valid sample too.

    Attributes
    ----------
    units : tuple of AuditUnit
    """

    units: tuple[AuditUnit, ...]

    def to_csv(self) -> str:
        """The sheet as CSV with the columns of ``HEADER``; the last one is empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        for unit in self.units:
            writer.writerow((unit.id, ONLY, plain_cell(unit.text_a), plain_cell(unit.text_b), ""))
        return out.getvalue()


@dataclass(frozen=True)
class AuditSummary:
    """The judgements behind audited coefficients: the object ``audit`` of the report.

    Attributes
    ----------
    judgements, units : int
        Number of judged pairs of texts; a pair with several judges counts once. (Two names for one number.)
    asked : int
        Number of pairs of texts in the sheets.
    plain : dict of str to float or None
        The coefficients without the audit.
    off : dict of str to float or None
        Plain minus audited.
    needed_for_width : dict of str to int or None
        Total number of judgements (``judgements`` of :func:`sample`) that narrows the interval of Cohen's kappa (or the first defined
        coefficient) to about each width; None where judging every pair would not suffice, because the items are a sample.
    needed_informed : dict of str to int or None
        The same for the interval with what is known about the measure.
    judges : int
    judges_agreement : dict or None
        With several judges: pairs of texts judged by two or more, the observed agreement on them, and Krippendorff's alpha.
    proxies : tuple of str
        Further measures whose P the estimate used.
    """

    judgements: int
    units: int
    asked: int
    plain: dict[str, float | None]
    off: dict[str, float | None]
    needed_for_width: dict[str, int | None]
    needed_informed: dict[str, int | None]
    judges: int
    judges_agreement: dict[str, Any] | None
    proxies: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "judgements": self.judgements,
            "units": self.units,
            "asked": self.asked,
            "plain": dict(self.plain),
            "off": dict(self.off),
            "needed_for_width": dict(self.needed_for_width),
            "needed_informed": dict(self.needed_informed),
            "judges": self.judges,
            "judges_agreement": self.judges_agreement,
            "proxies": list(self.proxies),
        }


@dataclass(frozen=True, repr=False)
class AuditReport:
    """An agreement report with audited coefficients; its raters, rater pairs and items are not audited.

    Attributes
    ----------
    report : AgreementReport
        With the audited coefficients and the audited expected agreement.
    audit : AuditSummary
        What the audit rests on.
    informed : dict of str to Informed
        The coefficients with what is known about the measure from benchmark data. These intervals hold from the first judgement on, and wherever
        one stops, also because of what one saw.
    """

    report: AgreementReport
    audit: AuditSummary
    informed: dict[str, Informed]

    @property
    def coefficients(self) -> dict[str, Coefficient]:
        """The audited coefficients."""
        return self.report.coefficients

    def to_dict(self) -> dict[str, Any]:
        """The object of docs/reference/json.md, with ``audit``."""
        told = self.report.to_dict()
        for name, coefficient in told["coefficients"].items():
            coefficient["audited"] = self.report.coefficients[name].value is not None
            coefficient["informed"] = self.informed[name].to_dict() if name in self.informed else None
        return {**told, "audit": self.audit.to_dict()}

    def to_frame(self, kind: FrameKind = "coefficients") -> Any:
        """A pandas data frame of the audited coefficients, or of the measure's items, raters or pairs: see :meth:`AgreementReport.to_frame`."""
        return self.report.to_frame(kind)

    def __repr__(self) -> str:
        return f"<AuditReport: {self.audit.judgements:,} judgements, {self.report!r}>"

    def __str__(self) -> str:
        return "\n".join(report_lines(self.to_dict()))

    def _repr_html_(self) -> str:
        return report_html(self.to_dict())

    def lines(self) -> list[str]:
        """The result of the audit as sentences."""
        audit = self.audit
        result = [f"{audit.judgements} of {audit.asked} pairs of texts are judged."]
        if audit.proxies:
            result.append(f"The estimate also uses {', '.join(audit.proxies)}.")
        for name in AUDITED:
            found = self.coefficients[name]
            if found.value is None:
                continue
            line = f"{name.replace('_', ' ')}: {found.value:.3f}"
            if found.ci95 is not None:
                line += f" (95% interval {found.ci95[0]:.3f} to {found.ci95[1]:.3f})"
            if name in self.informed:
                told = self.informed[name]
                line += f"; with what is known about the measure {told.value:.3f} ({told.ci95[0]:.3f} to {told.ci95[1]:.3f})"
            off = audit.off[name]
            if off is not None:
                line += f"; the measure alone said {audit.plain[name]:.3f}, {abs(off):.3f} too {'high' if off > 0 else 'low'}"
            result.append(line + ".")
        for width, total in audit.needed_for_width.items():
            if total is not None and total > audit.units:
                result.append(f"About {total - audit.units} more judgements bring the interval to a width of {width}.")
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
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AuditSheet:
    """Draw units to be judged.

    Parameters
    ----------
    table : AnnotationTable
    measure : str or Measure
        Strata of pairs where it is uncertain get more units.
    judgements : int
        Number of pairs of texts. A larger number with the same seed draws the same pairs and additional ones.
    seed : int
    assignment : {"optimal", "greedy"}
        How the measure's sets are matched.
    without : collection of str
        Ids of units to leave out of the sheet because they are judged already.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    AuditSheet

    Raises
    ------
    InputError
        If there is nothing to judge.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"{who} finds {i}") for i in range(9) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> len(softirr.audit.sample(table, "indel", judgements=12).units)
    12
    """
    if judgements < 1:
        raise InputError(f"The number of judgements is {judgements}, but has to be at least 1.")
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    with cache_and_progress(made, cache, progress) as (store, told):
        frames = Frames(table, made, seed, assignment, store, told)
        wanted: dict[tuple[int, int], None] = {}
        for frame, member in frames.design.draws():
            wanted.setdefault(frames.design.key(frame, member))
            if len(wanted) == judgements:
                break
    if not wanted:
        raise InputError("There is nothing to judge: no two answers to one item differ.")
    drawn = [frames.unit(*pair) for pair in wanted]
    order = sorted(range(len(drawn)), key=lambda place: (place // _BLOCK, digest(drawn[place].id, "order")))
    return AuditSheet(tuple(drawn[place] for place in order if drawn[place].id not in without))


def apply(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    sheets: Sequence[Judgements | str | os.PathLike[str]] = (),
    *,
    proxies: Sequence[str | Measure] = (),
    assignment: str = "optimal",
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> AuditReport:
    """Compute audited coefficients from judged sheets.

    From few judgements the coefficients have no interval of their own (``ci95``), and their value is that of ``informed``.

    Parameters
    ----------
    table : AnnotationTable
        The table that the units were drawn from.
    measure : str or Measure
        The measure that they were drawn with.
    sheets : sequence of Judgements or paths
        Sheets drawn with the same seed: extended ones, or those of several judges. The mean counts where several judges judged a pair.
    proxies : sequence of str or Measure
        Further measures that say something about the pairs. Their weights are fitted from the judgements and shrunk towards 0, so a useless one costs
        next to nothing; from 30 judged pairs of the same items on. They were not needed to draw the sheet.
    assignment, cache, progress
        As for :func:`sample`.

    Returns
    -------
    AuditReport

    Raises
    ------
    InputError
        If a sheet does not belong to this table and measure, contradicts itself, or nothing is judged.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"{who} finds {i}") for i in range(9) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> sheet = softirr.audit.sample(table, "indel", judgements=12)
    >>> judged = softirr.audit.Judgements("eve", {(unit.id, 1): "different" for unit in sheet.units})
    >>> report = softirr.audit.apply(table, "indel", [judged])
    >>> report.audit.judgements, report.coefficients["observed_agreement"].value < 0.2
    (12, True)
    """
    read = [sheet if isinstance(sheet, Judgements) else read_sheet(sheet) for sheet in sheets]
    ids = {unit: judgements.place((unit, pair)) for judgements in read for unit, pair in judgements.values}
    if not ids:
        raise InputError("The sheets hold no units: apply at least one sheet that audit sample has drawn.")
    seed = seed_of(ids)
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    others = _proxies(proxies, made)
    with cache_and_progress(made, cache, progress) as (given, told):
        store = given if given is not None else MemoryCache()
        frames = Frames(table, made, seed, assignment, store, told)
        units, draws = frames.found(ids)
        _check_texts(read, units)
        judged = _judged(read, units)
        too_few = _too_few(frames.design, judged, draws)
        if not judged.units:
            raise InputError(too_few or "No pair is judged.")
        plain = agreement(table, made, assignment=assignment, cache=store, progress=told)
        permutations = 5 if frames.answers.scorer.cheap else 2
        chance = chances.permutation(frames.design.ratings, frames.answers, permutations=permutations, seed=seed)
        scores = proxy_scores(frames, others, store, told)
    audited = estimate(frames.design, judged.units, draws, chance, _priors(plain), scores)
    if too_few:
        audited = replace(audited, coefficients=_few(audited))
    plain = replace(plain, warnings=(*plain.warnings, _PLAIN_PARTS, *([too_few] if too_few else [])))
    options = plain.options | {"chance": "audit", "permutations": permutations, "target_error": None, "sorting": None}
    names = tuple(one.name for one in others)
    return _report(replace(plain, options=options, seed=seed), audited, judged, len(ids), names)


def _proxies(proxies: Sequence[str | Measure], measure: Measure) -> list[Measure]:
    """The further measures, under the policy of the measure, each once."""
    made: dict[str, Measure] = {}
    for proxy in proxies:
        one = under_policy(measure_by_name(proxy), policy_of(measure)) if isinstance(proxy, str) else proxy
        if one.name in made or one.name == measure.name:
            raise InputError(
                f"{one.name} is named twice among the measures of this audit: name each proxy once, and not the measure."
            )
        made[one.name] = one
    return list(made.values())


def judged_units(
    frames: Frames, sheets: Sequence[Judgements], ids: Mapping[str, str]
) -> tuple[dict[tuple[int, int], float], int]:
    """The judgements of sheets that were drawn from these frames.

    Parameters
    ----------
    frames : Frames
    sheets : sequence of Judgements
    ids : mapping of str to str
        Where each unit stands, for messages.

    Returns
    -------
    (dict of (int, int) to float, int)
        True equivalence of judged pairs of texts, by their numbers, and the number of draws with which all units of the sheets are drawn.

    Raises
    ------
    InputError
        If a sheet does not belong to the frames or contradicts itself.
    """
    units, draws = frames.found(ids)
    _check_texts(sheets, units)
    return _judged(sheets, units).units, draws


# --- judgements -------------------------------------------------------------------------------------------------------


def _check_texts(sheets: Iterable[Judgements], units: Mapping[str, tuple[AuditUnit, tuple[int, int]]]) -> None:
    """Raise an InputError for pairs that a unit does not have, and for texts that differ from the table's."""
    for sheet in sheets:
        for key, value in sheet.values.items():
            checked(value, sheet.place(key))
            if key[1] != ONLY:
                raise InputError(f"{sheet.place(key)}: unit {key[0]} has no pair {key[1]}.")
            told = sheet.texts.get(key) if sheet.texts else None
            unit = units[key[0]][0]
            if told is not None and tuple(map(normalize, told)) != (normalize(unit.text_a), normalize(unit.text_b)):
                raise InputError(
                    f"{sheet.place(key)}: the texts are not those that were drawn; leave them as they are."
                )


@dataclass(frozen=True)
class _Judged:
    """The combined judgements of all judges.

    Attributes
    ----------
    units : dict
        True equivalence of pairs of texts, by their numbers.
    unsure : int
        Number of pairs of texts with "can't tell" and no other judgement.
    judges : int
    agreement : dict or None
    """

    units: dict[tuple[int, int], float]
    unsure: int
    judges: int
    agreement: dict[str, Any] | None


def _judged(sheets: Sequence[Judgements], units: Mapping[str, tuple[AuditUnit, tuple[int, int]]]) -> _Judged:
    said: dict[str, dict[str, bool]] = {}
    unsure: set[str] = set()
    for sheet in sheets:
        for key, value in sheet.values.items():
            mark = checked(value, sheet.place(key))
            if mark == CANT_TELL:
                unsure.add(key[0])
            elif mark:
                judges = said.setdefault(key[0], {})
                if judges.setdefault(sheet.judge, mark == SAME) != (mark == SAME):
                    raise InputError(f"{sheet.place(key)}: {sheet.judge} judged this pair twice, differently.")
    found = {units[id][1]: float(np.mean(list(judges.values()))) for id, judges in said.items()}
    names = {judge for judges in said.values() for judge in judges}
    return _Judged(found, len(unsure - said.keys()), len(names), judges_agreement(said))


def judges_agreement(said: Mapping[str, Mapping[str, bool]]) -> dict[str, Any] | None:
    """Agreement of the judges on pairs of texts that two or more judged.

    Parameters
    ----------
    said : mapping of str to mapping of str to bool
        By pair of texts and judge: whether the pair means the same.

    Returns
    -------
    dict or None
        ``pairs``, ``observed_agreement`` and ``krippendorff_alpha``; None where no pair has two judges.
    """
    names = sorted({judge for judges in said.values() for judge in judges})
    shared = [judges for judges in said.values() if len(judges) > 1]
    if len(names) < 2 or not shared:
        return None
    from softirr.coefficients import chance_corrected as co

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


def _priors(plain: AgreementReport) -> dict[str, Floats]:
    """What is known about each coefficient before any judgement."""
    priors = {}
    for name in AUDITED:
        known, value = known_error(name, plain.provenance), plain.coefficients[name].value
        if known is not None and value is not None:
            priors[name] = known.log_density(value, grid(name))
    return priors


def _few(audited: Audited) -> dict[str, Coefficient]:
    """The coefficients where the judgements alone are too few for them."""
    return {
        name: Coefficient(audited.informed[name].value)
        if name in audited.informed
        else Coefficient(None, undefined=coefficient.undefined or "too few pairs are judged")
        for name, coefficient in audited.coefficients.items()
    }


def _too_few(design: Design, judged: _Judged, draws: int) -> str | None:
    """Why the judgements alone are too few for an interval: a frame that has pairs to judge has hardly any judged ones."""
    keys: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    for _, (frame, member) in zip(range(draws), design.draws(), strict=False):
        keys[frame].add(design.key(frame, member))
    count = [sum(pair in judged.units for pair in keys[frame]) for frame in (0, 1)]
    there = [sum(map(len, frame.queues)) for frame in (design.same, design.different)]
    unsure = (
        f" {judged.unsure} were judged as can't tell, which counts as not judged: say different where nothing in the guideline makes two texts "
        "the same, or ask somebody who knows the subject to judge them."
        if judged.unsure
        else ""
    )
    if len(judged.units) < _LEAST_JUDGED and sum(there) > len(judged.units):
        return f"Too few pairs are judged for an interval by the judgements alone ({len(judged.units)}): judge at least {_LEAST_JUDGED}.{unsure}"
    if any(count[i] < min(2, there[i]) for i in (0, 1)):
        kind = "answers to one item" if count[0] < min(2, there[0]) else "answers to different items"
        return f"Too few pairs of {kind} are judged for an interval by the judgements alone: judge more of the sheet.{unsure}"
    return None


# --- report -----------------------------------------------------------------------------------------------------------


def _report(
    plain: AgreementReport, audited: Audited, judged: _Judged, asked: int, proxies: tuple[str, ...]
) -> AuditReport:
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
        len(judged.units),
        len(judged.units),
        asked,
        before,
        off,
        _needed(audited, audited.widths, len(judged.units)),
        _needed(audited, audited.informed_widths, len(judged.units)),
        judged.judges,
        judged.agreement,
        proxies,
    )
    audited_report = replace(plain, coefficients=coefficients, expected_agreement=expected, unaudited={})
    return AuditReport(audited_report, summary, audited.informed)


def _needed(audited: Audited, widths: Callable[[str, float], float | None], units: int) -> dict[str, int | None]:
    """Total number of units for each of ``WIDTHS``, from the variances estimated so far."""
    order = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "observed_agreement")
    name = next((name for name in order if audited.coefficients[name].value is not None), None)
    if name is None:
        return {str(width): None for width in WIDTHS}

    def reaches(width: float, more: float) -> bool:
        found = widths(name, more)
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
