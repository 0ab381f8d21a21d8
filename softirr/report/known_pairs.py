"""Calibration on the pairs that terminologies know, for the pairs that they do not know.

Where terminologies know two different texts of one item, they say whether these mean the same. That is a judgement, and the measure's P of the same pair
shows how far off the measure is in this project: one that takes siblings for synonyms does so for texts that no terminology knows too. So the known
pairs of a project calibrate P of its other pairs. Pairs of different items are calibrated at their own share of equivalent texts (Saerens, Latinne and
Decaestecker 2002), which is at most that of the items.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softirr.measures import Measure
from softirr.measures.base import Pairs, layers_of, mutual, rewritten
from softirr.measures.cache import PairCache
from softirr.measures.calibration_curves import LEAST, Calibration, fit_near_identity
from softirr.measures.corrected import CorrectedMeasure, corrected
from softirr.measures.lexical import Exact
from softirr.measures.pairs import PairScorer
from softirr.measures.terminology import Source, TerminologyMeasure, terminology_measure_of
from softirr.policy.measure import PolicyMeasure, policy_of, under_policy
from softirr.provenance import Progress
from softirr.tables.ratings import Floats
from softirr.text import normalize

__all__ = ["calibrated_by_chance", "calibration_on_known_pairs", "with_unknown_calibrated"]

_UNKNOWN: tuple[Source, ...] = ("names", "measure")


def calibration_on_known_pairs(
    measure: Measure, pairs: Pairs, *, cache: PairCache | None = None, progress: Progress | None = None
) -> Calibration | None:
    """A calibration of the measure below terminologies, fitted to the pairs that these know.

    Parameters
    ----------
    measure : Measure
        With terminologies.
    pairs : sequence of (str, str)
        Texts of one item by two raters. Each pair of different texts counts once.
    cache, progress
        As for :class:`softirr.measures.pairs.PairScorer`.

    Returns
    -------
    Calibration or None
        None without terminologies, with fewer than ``LEAST`` known pairs, under a policy by which more general texts are the same or different, and
        where people's judgements have calibrated the measure.
    """
    terms = _calibrated_measure(measure)
    if terms is None:
        return None
    layers = list(layers_of(measure))
    written = [(normalize(rewritten(layers, a)), normalize(rewritten(layers, b))) for a, b in pairs]
    different = sorted({(min(pair), max(pair)) for pair in written if pair[0] != pair[1]})
    expansion = terms.expand(different)
    known = [place for place, source in enumerate(expansion.source) if source == "terminology"]
    if len(known) < LEAST:
        return None
    directions = _directions(terms.raw, [different[place] for place in known], cache, progress)
    same = mutual(expansion.told[known]) > 0.5
    return fit_near_identity(directions, same, measure=terms.raw.name)


def with_unknown_calibrated(measure: Measure, calibration: Calibration) -> Measure:
    """A measure with terminologies whose P of pairs that these do not know is calibrated.

    Parameters
    ----------
    measure : Measure
    calibration : Calibration
        Of :func:`calibration_on_known_pairs`.

    Returns
    -------
    Measure
        With the same name, layers and terminologies.
    """
    if isinstance(measure, TerminologyMeasure):
        return measure.over(corrected(measure.raw, calibration))
    if isinstance(measure, CorrectedMeasure):
        return corrected(with_unknown_calibrated(measure.raw, calibration), measure.calibration, measure.decided)
    if isinstance(measure, PolicyMeasure):
        return under_policy(with_unknown_calibrated(measure.raw, calibration), measure.policy)
    return measure


def calibrated_by_chance(
    measure: Measure,
    calibration: Calibration,
    pairs: Pairs,
    *,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> Measure:
    """The measure for pairs of different items, see :func:`with_unknown_calibrated`.

    Parameters
    ----------
    measure : Measure
        Without the calibration.
    calibration : Calibration
        That of pairs of one item.
    pairs : sequence of (str, str)
        Random pairs of texts of different items.
    cache, progress
        As for :class:`softirr.measures.pairs.PairScorer`.

    Returns
    -------
    Measure
    """
    terms = terminology_measure_of(measure)
    assert terms is not None
    layers = list(layers_of(measure))
    written = [(rewritten(layers, a), rewritten(layers, b)) for a, b in pairs]
    unknown = [pair for pair, source in zip(written, terms.sources(written), strict=True) if source in _UNKNOWN]
    prior = calibration.prior_of(_directions(terms, unknown, cache, progress)) if unknown else calibration.prior
    return with_unknown_calibrated(measure, calibration.at(min(prior, calibration.prior)))


def _calibrated_measure(measure: Measure) -> TerminologyMeasure | None:
    """The measure with terminologies that may be calibrated."""
    terms = terminology_measure_of(measure)
    if terms is None or isinstance(terms.raw, Exact) or policy_of(measure).more_general != "graded":
        return None
    by_people = (isinstance(one, CorrectedMeasure) and one.calibration is not None for one in layers_of(measure))
    return None if any(by_people) else terms


def _directions(
    measure: Measure, pairs: Sequence[tuple[str, str]], cache: PairCache | None, progress: Progress | None
) -> Floats:
    """Both directions of each pair, shape (n, 2); equal columns where the measure has none."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    number = {text: place for place, text in enumerate(texts)}
    left, right = (np.array([number[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    scorer = PairScorer(measure, texts, cache=cache, progress=progress)
    directions = scorer.entail(left, right)
    return np.repeat(scorer.score(left, right)[:, None], 2, axis=1) if directions is None else directions
