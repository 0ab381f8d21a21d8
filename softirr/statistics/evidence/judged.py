"""Judged sheets as evidence about the pairs of a table, whatever measure or policy they were drawn with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softirr.answers.sheets import CANT_TELL, FIRST_MORE_GENERAL, SAME, SECOND_MORE_GENERAL, Judgments, checked
from softirr.errors import InputError
from softirr.meaning.measures.arrays import pair_keys
from softirr.meaning.policy.measure import policy_of
from softirr.numbers import plural
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.evidence.known import FormerPairs, Judged, known_pairs
from softirr.statistics.evidence.sampling_frames import Frames, digest, is_of_item, stem
from softirr.text import normalize

ONLY = 1
"""The number of a unit's pair of texts in a sheet: there is one."""


@dataclass(frozen=True, eq=False)
class Collected:
    """The judgments of several sheets that apply to a table.

    Attributes
    ----------
    n_pairs : int
        Different pairs of texts in the sheets.
    unused : int
        Judged pairs that inform the calibration only, as the table no longer has them, or nothing, as they are known.
    unsure : int
        Pairs that all of their judges left undecided.
    agreement : dict or None
        Agreement of the judges, see :func:`judges_agreement`.
    """

    judged: Judged
    n_pairs: int
    unused: int
    unsure: int
    judges: int
    agreement: dict[str, Any] | None


def collect(frames: Frames, sheets: Sequence[Judgments]) -> Collected:
    """Match judged pairs with the pairs of a table, by their texts.

    A pair of the same item counts if it still is one; otherwise it informs the calibration only. A pair that a
    terminology knows or a reviewer has decided does not count. All other pairs have equal weights: the strata depend on
    the measure's P only, and the calibration conditions on P. Weights by the probability of being drawn would make the
    estimate jump when a table, a measure or a policy changes, and are less accurate under another measure too
    (``docs/results/evidence.md``). If several judges judged a pair, their mean counts. The policy determines how a more
    general text counts.

    Raises
    ------
    InputError
        If a sheet was changed, contradicts itself, or none of its judged pairs is a pair of the table.
    """
    verdicts, unsure, texts, n_pairs = _verdicts(frames, sheets)
    number = {text: index for index, text in enumerate(frames.table.texts)}
    same = frames.design.same.texts
    keys_of_items = set(pair_keys(same.left_texts, same.right_texts, len(frames.table.texts)).tolist())
    rows: dict[int, list[float]] = {}
    former: list[tuple[str, tuple[str, str], float]] = []
    known_ids = _known_ids(frames, {id: texts[id] for id in verdicts})
    for id, judges in verdicts.items():
        value = float(np.mean(list(judges.values())))
        low, high = sorted(number.get(text, -1) for text in texts[id])
        key = low * len(frames.table.texts) + high
        is_pair = low >= 0 and low != high and id not in known_ids
        if is_pair and (key in keys_of_items or is_of_item(id) is False):
            rows.setdefault(key, []).append(value)
        else:
            former.append((id, texts[id], value))
    if verdicts and not rows:
        raise InputError(
            f"None of the {plural(len(verdicts), 'judged pair')} of texts is a pair of this table: apply the sheets to "
            "the answers that they were drawn from."
        )
    keys = np.array(sorted(rows), dtype=np.int64)
    values = np.array([np.mean(rows[key]) for key in keys.tolist()])
    left_texts, right_texts = np.divmod(keys, len(frames.table.texts))
    p = np.asarray(frames.scorer.score(left_texts, right_texts), dtype=np.float64) if len(keys) else np.zeros(0)
    names = {judge for judges in verdicts.values() for judge in judges}
    open_former = [row for row in former if row[0] not in known_ids]
    judged = Judged(keys, values, p, len(frames.table.texts), _former_pairs(frames, open_former))
    n_unsure = len(unsure - verdicts.keys())
    return Collected(judged, n_pairs, len(former), n_unsure, len(names), judges_agreement(verdicts))


def _known_ids(frames: Frames, pairs: Mapping[str, tuple[str, str]]) -> set[str]:
    """Units of pairs of texts that a terminology knows or a reviewer has decided."""
    texts = tuple(text for pair in pairs.values() for text in pair)
    truth = known_pairs(frames.scorer.measure, texts)
    if truth is None:
        return set()
    of_first = np.arange(0, len(texts), 2)
    return {id for id, value in zip(pairs, truth(of_first, of_first + 1).tolist(), strict=True) if not np.isnan(value)}


def _former_pairs(frames: Frames, former: Sequence[tuple[str, tuple[str, str], float]]) -> FormerPairs:
    """Judged pairs that are no longer pairs of the table, if their ids reveal whether they were of the same item."""
    with_kind = [(pair, value, is_of_item(id)) for id, pair, value in former if pair[0] != pair[1]]
    rows = [row for row in with_kind if row[2] is not None]
    if not rows:
        return FormerPairs()
    values, of_item = (np.array([row[column] for row in rows]) for column in (1, 2))
    p = np.asarray(frames.scorer.measure.score([pair for pair, _, _ in rows]), dtype=np.float64)
    return FormerPairs(p, values, of_item.astype(np.int64))


def _verdicts(
    frames: Frames, sheets: Sequence[Judgments]
) -> tuple[dict[str, dict[str, float]], set[str], dict[str, tuple[str, str]], int]:
    """By unit: each judge's verdict, who could not decide, the texts as the table has them; and how many units."""
    form = partial(normalize, casefold=frames.table.casefold, ignore_harakat=frames.table.ignore_harakat)
    general = float(policy_of(frames.scorer.measure).more_general == "lenient")
    meaning = {SAME: 1.0, FIRST_MORE_GENERAL: general, SECOND_MORE_GENERAL: general}
    verdicts: dict[str, dict[str, float]] = {}
    unsure: set[str] = set()
    texts: dict[str, tuple[str, str]] = {}
    units: dict[str, str] = {}
    for sheet in sheets:
        for key, cell in sheet.values.items():
            location = sheet.place(key)
            mark = checked(cell, location)
            if key[1] != ONLY:
                raise InputError(f"{location}: unit {key[0]} has no pair {key[1]}.")
            units.setdefault(key[0], location)
            if sheet.texts and key in sheet.texts:
                texts[key[0]] = _checked_texts(key[0], sheet.texts[key], location)
            if mark == CANT_TELL:
                unsure.add(key[0])
            elif mark:
                value = meaning.get(mark, 0.0)
                if verdicts.setdefault(key[0], {}).setdefault(sheet.judge, value) != value:
                    raise InputError(f"{location}: {sheet.judge} judged this pair twice, differently.")
    missing_texts = {stem(id): id for id in verdicts if id not in texts}
    if missing_texts:
        drawn_units = ((missing_texts.get(stem(unit.id)), unit) for unit in frames.units())
        texts |= {id: (unit.text_a, unit.text_b) for id, unit in drawn_units if id is not None}
    for id in verdicts:
        if id not in texts:
            raise InputError(
                f"{units[id]}: this unit was not drawn from these answers with this measure, and the sheet does not "
                "contain its texts."
            )
    return verdicts, unsure, {id: (form(a), form(b)) for id, (a, b) in texts.items()}, len(units)


def _checked_texts(id: str, pair: tuple[str, str], location: str) -> tuple[str, str]:
    """The texts of a unit, if they are those that its id was made of."""
    prefix, _, end = id.rpartition("-")
    text_a, text_b = sorted(map(normalize, pair))
    if digest(prefix, text_a, text_b)[:10] != end[:10]:
        raise InputError(f"{location}: the texts differ from the drawn ones; do not edit them.")
    return pair


def judges_agreement(verdicts: Mapping[str, Mapping[str, float]]) -> dict[str, Any] | None:
    """Agreement of the judges on pairs of texts that two or more judged.

    Parameters
    ----------
    verdicts : mapping of str to mapping of str to float
        By pair of texts and judge: 1 if the pair means the same, else 0.

    Returns
    -------
    dict or None
        ``pairs``, ``observed_agreement`` and ``krippendorff_alpha``; None without a pair that two judges judged.
    """
    names = sorted({judge for judges in verdicts.values() for judge in judges})
    shared = [judges for judges in verdicts.values() if len(judges) > 1]
    if len(names) < 2 or not shared:
        return None
    matrix = np.array([[int(judges[name]) if name in judges else -1 for name in names] for judges in shared])
    estimates = matrix_agreement(matrix).estimates
    return {
        "pairs": len(shared),
        "observed_agreement": estimates["observed_agreement"].value,
        "krippendorff_alpha": estimates["krippendorff_alpha"].value,
    }
