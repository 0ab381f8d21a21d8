"""Whether a measure fits the texts of a project: checks that run before its coefficient is believed.

The bundled model was trained on short texts, most of them English. On others it still gives probabilities, and
coefficients that look plausible. Thresholds were fitted on half of the texts of eleven languages and of ten English tables, chosen by a hash,
and checked on the other half.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.languages import language_profile
from softirr.meaning.measures.pairs import score_pairs
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.terminology import terminologies_of

__all__ = [
    "FEWEST_TEXTS",
    "Misfit",
    "Reason",
    "chance_misfit",
    "check_word_swaps",
    "language_record",
    "misfit_sentences",
    "text_misfits",
]

Reason = Literal["language", "length", "abbreviations", "chance", "swapped"]
BUNDLED = "nli"

LONG_WORDS = 40
"""Words of a text beyond what was trained: pairs were cut at 128 tokens, and most were names and single sentences."""
LEAST_LONG = 0.05
"""Share of such texts that is worth a warning."""
LEAST_SHORTENED = 0.1
"""Share of texts that are an abbreviation from which softirr warns.

English tables have at most 0.07 in 30 texts, disease mentions 0 to 0.23, lists of abbreviations 0.6 and more.
"""
FEWEST_SHORTENED = 3
"""Number of abbreviations from which softirr warns."""
MOST_BY_CHANCE = 0.3
"""Mean P of different answers drawn at random: at most 0.25 on English tables, 0.26 to 0.93 in other languages."""
MOST_SWAPPED = 0.55
"""Mean P of a text and its copy with one word from another text.

At most 0.51 on English tables, from 0.51 in other languages.
"""
FEWEST_TEXTS = 10
"""Different texts below which chance, copies and texts that terminologies do not know give no warning."""
SWAPS = 40
"""Number of copies."""
_AUDIT = "An audited coefficient does not depend on the measure being right."

_WORD = re.compile(r"[^\W\d_]{4,}")
_PIECE = re.compile(r"[^\W_]+")
_NUMERAL = re.compile(r"[IVX]+")
_SHORT = 6
"""Letters and digits of an abbreviation, at most."""


@dataclass(frozen=True)
class Misfit:
    """One reason why a measure does not fit.

    Attributes
    ----------
    reason
    sentence
        What was found, and what to do.
    """

    reason: Reason
    sentence: str


def text_misfits(measure: Measure | str, texts: Sequence[str]) -> tuple[Misfit, ...]:
    """What speaks against the bundled model, by the texts alone.

    For other measures nothing does: what they were trained for is not known.
    With terminologies, only the texts that none of them knows are checked, if there are ``FEWEST_TEXTS``.

    Parameters
    ----------
    measure
        Or its name.
    texts
        The different texts of a project.

    Returns
    -------
    tuple of Misfit
        None or several.

    Examples
    --------
    >>> [m.reason for m in text_misfits("nli", ["douleur au genou", "toux sèche", "mal de tête", "fièvre"])]
    ['language']
    """
    measure, texts, those = _asked(measure, texts)
    if _raw_name(measure) != BUNDLED or not texts:
        return ()
    misfits = []
    profile = language_profile(texts)
    if profile.is_foreign:
        misfits.append(Misfit("language", f"The {those} look like {profile.name}, {_record_of(profile.name)}"))
    long = sum(len(text.split()) > LONG_WORDS for text in texts)
    if long >= LEAST_LONG * len(texts):
        sentence = (
            f"{long:,} of {len(texts):,} {those} {'has' if long == 1 else 'have'} more than {LONG_WORDS} words, longer "
            f"than the measure {BUNDLED} was trained on. It compares them sentence by sentence, like sets; "
            "--split none reads each answer at once."
        )
        misfits.append(Misfit("length", sentence))
    shortened = sum(map(_is_abbreviation, texts))
    if shortened >= max(LEAST_SHORTENED * len(texts), FEWEST_SHORTENED) and not _in_capitals(texts):
        sentence = (
            f"{shortened:,} of {len(texts):,} {those} are abbreviations. The measure {BUNDLED} cannot know what they "
            "stand for here, and may accept any expansion whose first letters fit. List them with their meanings in a "
            "table with the columns id, name and synonym, as a terminology, or audit."
        )
        misfits.append(Misfit("abbreviations", sentence))
    return tuple(misfits)


def chance_misfit(measure: Measure | str, similarity: float, distinct: int) -> Misfit | None:
    """What speaks against a measure from the mean equivalence of different answers drawn at random.

    Parameters
    ----------
    measure
    similarity
        Mean over all pairs of distinct answers, each with itself among them.
    distinct
        Number of distinct answers.

    Returns
    -------
    Misfit or None
    """
    if distinct < FEWEST_TEXTS or not takes_probability(measure):
        return None
    others = (similarity * distinct - 1) / (distinct - 1)
    if others < MOST_BY_CHANCE:
        return None
    return Misfit(
        "chance",
        f"Two different answers drawn at random have a mean equivalence of {others:.2f}, which is high (from "
        f"{MOST_BY_CHANCE:.2f} on). Unless most answers do mean the same, the measure {_raw_name(measure)} hardly "
        f"tells these texts apart, and no coefficient can be trusted. {_AUDIT}",
    )


def check_word_swaps(
    measure: Measure, texts: Sequence[str], seed: int = 0, *, cache: PairCache | None = None
) -> Misfit | None:
    """What speaks against an entailment model from copies in which one word is another text's.

    Parameters
    ----------
    measure
    texts
        The different texts of a project.
    seed
        Of the copies.
    cache
        Of scored pairs.

    Returns
    -------
    Misfit or None
    """
    if not _raw_name(measure).startswith("nli"):
        return None
    pairs = swapped_copies(texts, seed)
    if len(pairs) < FEWEST_TEXTS:
        return None
    mean = float(np.mean(score_pairs(measure.raw, pairs, cache=cache)))
    if mean < MOST_SWAPPED:
        return None
    return Misfit(
        "swapped",
        f"A text and a copy of it with one word replaced have a mean equivalence of {mean:.2f} ({len(pairs)} copies): "
        f"the measure {_raw_name(measure)} does not read the words that differ. {_AUDIT}",
    )


def misfit_sentences(
    measure: Measure,
    texts: Sequence[str],
    *,
    similarity: float | None = None,
    distinct: int = 0,
    seed: int = 0,
    cache: PairCache | None = None,
) -> tuple[str, ...]:
    """Everything that speaks against a measure, as sentences; of several signs of an unknown language one is enough.

    Parameters
    ----------
    measure
    texts
        The different texts of a project.
    similarity, distinct
        As for :func:`chance_misfit`, where the agreement by chance is known.
    seed
        Of the copies with one word replaced.
    cache
        Of scored pairs.

    Returns
    -------
    tuple of str
    """
    misfits: list[Misfit | None] = list(text_misfits(measure, texts))
    is_unknown = any(one is not None and one.reason == "language" for one in misfits)
    if not is_unknown and len(texts) >= FEWEST_TEXTS:
        if similarity is not None:
            misfits.append(chance_misfit(measure, similarity, distinct))
        misfits.append(check_word_swaps(measure, texts, seed, cache=cache))
    return tuple(one.sentence for one in misfits if one is not None)


def swapped_copies(texts: Sequence[str], seed: int = 0) -> list[tuple[str, str]]:
    """Up to ``SWAPS`` texts and their copies, in which one word is replaced by a different word of another text.

    Parameters
    ----------
    texts
        In any order.
    seed

    Returns
    -------
    list of (str, str)
        Text and copy.
    """
    from rapidfuzz.distance import Indel

    ordered = sorted(texts)
    words = [_WORD.findall(text) for text in ordered]
    usable = [k for k, text in enumerate(ordered) if words[k] and 2 <= len(text.split()) <= LONG_WORDS]
    pool = sorted({word.casefold() for matched in words for word in matched})
    if not usable or len(pool) < 2:
        return []
    rng = np.random.default_rng(seed)
    pairs: dict[tuple[str, str], None] = {}
    for _ in range(5 * SWAPS):
        k = usable[rng.integers(len(usable))]
        old, new = words[k][rng.integers(len(words[k]))], pool[rng.integers(len(pool))]
        if new in ordered[k].casefold() or Indel.normalized_similarity(old.casefold(), new) > 0.6:
            continue
        pairs[ordered[k], re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, ordered[k], count=1)] = None
        if len(pairs) == SWAPS:
            break
    return list(pairs)


def takes_probability(measure: Measure | str) -> bool:
    """Whether the scores are meant as probabilities.

    Scores of letters and vectors are high for texts that merely look alike.

    Parameters
    ----------
    measure
        Or its name.

    Returns
    -------
    bool
    """
    return _raw_name(measure).startswith(("nli", "llm"))


@cache
def language_record() -> dict[str, dict[str, float]]:
    """What the multilingual model was measured at, by language.

    Returns
    -------
    dict of str to dict
        By the names of :func:`softirr.meaning.measures.languages.language_profile`: the share of pairs that mean the
        same that it finds (``found``), and the share of the others that it calls the same (``wrong``).
    """
    from softirr.inference.models import multilingual_model

    model = multilingual_model()
    file = None if model is None else Path(model.folder) / "measured.json"
    if file is None or not file.is_file():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8"))["languages"])


def _record_of(language: str) -> str:
    record = language_record().get(language)
    if record is None:
        return f"in which the measure {BUNDLED} was never measured: trust a coefficient only after an audit."
    return (
        f"in which the measure {BUNDLED} is less reliable than in English: in a test it found {record['found']:.0%} of "
        f"the pairs that mean the same, and called {record['wrong']:.0%} of the others the same. An audit corrects a "
        "coefficient for this."
    )


def _raw_name(measure: Measure | str) -> str:
    return measure if isinstance(measure, str) else measure.raw_name


def _asked(measure: Measure | str, texts: Sequence[str]) -> tuple[Measure | str, Sequence[str], str]:
    """The measure, the texts that it is asked about, and what to call them."""
    terms = None if isinstance(measure, str) else terminologies_of(measure)
    if terms is None:
        return measure, texts, "texts"
    unknown = [text for text, known in zip(texts, map(terms.lookup.find, texts), strict=True) if not known]
    return measure, unknown if len(unknown) >= FEWEST_TEXTS else (), "texts that no terminology knows"


def _is_abbreviation(text: str) -> bool:
    """Whether a text is one word with a short part of two capitals or more: "MI", "COVID-19", "T2DM"."""
    return len(text.split()) == 1 and any(
        len(piece) <= _SHORT and sum(map(str.isupper, piece)) >= 2 and not _NUMERAL.fullmatch(piece)
        for piece in _PIECE.findall(text)
    )


def _in_capitals(texts: Sequence[str]) -> bool:
    """Whether long words are mostly written in capitals, so that capitals of short words say nothing."""
    long = [word for text in texts for word in _WORD.findall(text) if len(word) > _SHORT]
    return 2 * sum(map(str.isupper, long)) > len(long)
