"""Warnings that a measure does not fit the texts of a project: their language, and high equivalence by chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from softirr.meaning.measures.languages import UNRECOGNIZED, language_profile
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.terminology import terminologies_of
from softirr.plural import plural

BUNDLED = "nli"
HIGH_BY_CHANCE = 0.3
"""Mean P of different answers drawn at random: at most 0.25 on English tables, 0.26 to 0.93 in other languages."""
FEWEST_TEXTS = 10
"""Minimum number of different texts for a warning by chance, and of texts that terminologies do not contain."""


def misfit_sentences(
    measure: Measure,
    texts: Sequence[str],
    *,
    similarity: float | None = None,
    n_answers: int = 0,
) -> tuple[str, ...]:
    """Why a measure does not fit the texts of a project; empty if nothing is known against it.

    Parameters
    ----------
    texts : sequence of str
        The different texts of a project.
    similarity : float, optional
        Mean equivalence over all pairs of different answers, each with itself among them.
    n_answers : int
        Number of different answers.
    """
    language = _language(measure, texts)
    by_chance = _by_chance(measure, similarity, n_answers) if language is None and similarity is not None else None
    return tuple(sentence for sentence in (language, by_chance) if sentence is not None)


def script_warnings(n: int) -> tuple[str, ...]:
    """A warning of pairs of answers that the bundled models do not compare; they compare the others as usual.

    Parameters
    ----------
    n : int
        Number of pairs of answers to one item that have no script or symbol in common.
    """
    if not n:
        return ()
    return (
        f"{plural(n, 'pair')} of answers to one item {'is' if n == 1 else 'are'} in different scripts, such as Latin "
        "and Chinese letters, or with different symbols, such as ✓ and ✗. "
        f"The measure {BUNDLED} does not compare them, so they count as different: translate the texts, write symbols "
        "in words, or judge such pairs in an audit.",
    )


def _language(measure: Measure, texts: Sequence[str]) -> str | None:
    """The bundled model's record in the language of the texts; with terminologies, of the texts they do not contain."""
    if measure.raw_name != BUNDLED:
        return None
    terms = terminologies_of(measure)
    if terms is not None:
        texts = [text for text in texts if not terms.lookup.find(text)]
        if len(texts) < FEWEST_TEXTS:
            return None
    profile = language_profile(texts)
    if not profile.is_foreign:
        return None
    record = language_record().get(profile.name)
    if profile.name == UNRECOGNIZED:
        return (
            "Many texts are not in English, and softirr does not recognize their language, so the errors of the "
            f"measure {BUNDLED} in them are not known: trust a coefficient only after an audit."
        )
    if record is None:
        return (
            f"The texts look like {profile.name}, in which the measure {BUNDLED} was never measured: trust a "
            "coefficient only after an audit."
        )
    return (
        f"The texts look like {profile.name}, in which the measure {BUNDLED} is less reliable than in English: in a "
        f"test it found {record['found']:.0%} of the pairs that mean the same, and called {record['wrong']:.0%} of the "
        "others the same. An audit corrects a coefficient for this. If there are several languages, score each on its "
        "own."
    )


def _by_chance(measure: Measure, similarity: float, n_answers: int) -> str | None:
    """High equivalence of random answers. Letters and vectors are alike by chance, so they give no warning."""
    if n_answers < FEWEST_TEXTS or not measure.raw_name.startswith(("nli", "llm")):
        return None
    mean = (similarity * n_answers - 1) / (n_answers - 1)
    if mean < HIGH_BY_CHANCE:
        return None
    return (
        f"Two different answers drawn at random have a mean equivalence of {mean:.2f}, which is high (from "
        f"{HIGH_BY_CHANCE:.2f} on). Unless most answers do mean the same, the measure {measure.raw_name} hardly tells "
        "these texts apart, and no coefficient can be trusted. An audited coefficient does not depend on the measure "
        "being right."
    )


@cache
def language_record() -> dict[str, dict[str, float]]:
    """Measured errors of the multilingual model, by language.

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
