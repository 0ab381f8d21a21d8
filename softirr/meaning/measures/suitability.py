"""Whether a measure fits the texts of a project: scripts and symbols, language, and high equivalence by chance.

The bundled models compare only texts that have a script and symbols in common. They learned from pairs within a
language. The multilingual model calls most pairs of texts in two scripts the same, whatever they mean
(docs/results/multilingual.md). Most symbols and emoji are one unknown word to both models, so that a check mark and a
cross, or two different emoji, are the same to them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from softirr.answers.ratings import Ratings
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures.arrays import Bools, Ints
from softirr.meaning.measures.known_pairs import Terminologies
from softirr.meaning.measures.languages import ENGLISH, UNRECOGNIZED, letter_scripts, project_language
from softirr.meaning.measures.protocols import Measure
from softirr.numbers import plural

_ALIASES = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "BOPOMOFO"), "CJK")
"""Scripts that one language writes together with another one."""
_LONGEST_ABBREVIATION = 6
"""Maximum number of letters."""
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_SIGNS = ("+", "-", "−")
"""Texts that facts read as a word."""
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
BUNDLED = "nli"
HIGH_BY_CHANCE = 0.3
"""Mean P of different answers drawn at random: at most 0.25 on English tables, 0.26 to 0.93 in other languages."""
FEWEST_TEXTS = 10
"""Minimum number of different texts for a warning by chance, and of texts that terminologies do not contain."""


@lru_cache(maxsize=1 << 17)
def scripts_of(text: str) -> frozenset[str]:
    """The scripts of a text.

    A short text in capitals has none: "ECG" is an abbreviation in every language.

    Examples
    --------
    >>> sorted(scripts_of("α-synuclein")), sorted(scripts_of("カタカナ 漢字")), sorted(scripts_of("38.5 %"))
    (['GREEK', 'LATIN'], ['CJK'], [])
    """
    scripts = letter_scripts(text)
    if text.isupper() and len(scripts) <= _LONGEST_ABBREVIATION:
        return frozenset()
    return frozenset(_ALIASES.get(script, script) for script in scripts if script)


@lru_cache(maxsize=1 << 17)
def symbols_of(text: str) -> frozenset[str]:
    """The symbols of a text, repeated ones as one; all of a text without letters and digits is one.

    Bullets, skin tones and the symbols of keyboards, other than "++", do not count.

    Examples
    --------
    >>> sorted(symbols_of("☑ edema ++")), sorted(symbols_of("->")), sorted(symbols_of("■ 38.5 ± 1 °C (grade Ⅱ)"))
    (['++', '☑'], ['->'], ['Ⅱ'])
    """
    text = _SKIN_TONES.sub("", text)
    if not _has_words(text):
        return frozenset((text,))
    if text.isascii() and "++" not in text:
        return frozenset()
    return frozenset(run[0] for run in _RUN.finditer(text) if run[0].startswith("++") or _is_symbol(run[1]))


def _has_words(text: str) -> bool:
    return not text or text in _SIGNS or any(map(str.isalnum, text))


def _is_symbol(mark: str) -> bool:
    """Whether a character is a symbol that counts, and not a bullet or such as ° and ±."""
    category = unicodedata.category(mark)
    if category in ("So", "Sm"):
        return "\u2190" <= mark < "\u25a0" or mark > "\u25ff"
    return category in ("No", "Nl")


def pairs_across_scripts(texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Bools:
    """Which pairs of texts have letters and no script in common, or symbols and none in common, shape (n,).

    A text of symbols only differs from every text without them.

    Parameters
    ----------
    texts : sequence of str
        Normalized. Texts outside the pairs are not looked at.
    left_texts, right_texts : shape (n,)
        Numbers of the pairs' texts.
    """
    pairs = zip(left_texts.tolist(), right_texts.tolist(), strict=True)
    return np.array([_share_nothing(texts[i], texts[j]) for i, j in pairs], dtype=bool)


def _share_nothing(first: str, second: str) -> bool:
    scripts, symbols = (scripts_of(first), scripts_of(second)), (symbols_of(first), symbols_of(second))
    if all(scripts) and scripts[0].isdisjoint(scripts[1]):
        return True
    is_compared = all(symbols) or not (_has_words(first) and _has_words(second))
    return is_compared and symbols[0].isdisjoint(symbols[1])


def misfit_sentences(
    measure: Measure, texts: Sequence[str], *, similarity: float | None = None, n_answers: int = 0
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


def script_warnings(table: AnnotationTable, ratings: Ratings) -> tuple[str, ...]:
    """A warning of pairs of answers to one item with no script, or no symbol, in common; the others count as usual.

    Parameters
    ----------
    table : AnnotationTable
        With the texts of the answers.
    ratings : Ratings
        The ratings of this table.
    """
    answers = ["".join(table.texts_of(answer)) for answer in range(len(table.answers))]
    rows = ratings.comparisons.left_rows, ratings.comparisons.right_rows
    n = int(pairs_across_scripts(answers, *(ratings.answer[row] for row in rows)).sum())
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
    terms = measure.stage(Terminologies)
    if terms is not None:
        texts = [text for text in texts if not terms.lookup.find(text)]
        if len(texts) < FEWEST_TEXTS:
            return None
    language = project_language(texts)
    if language in (None, ENGLISH):
        return None
    record = language_record().get(str(language))
    if language == UNRECOGNIZED:
        return (
            "Many texts are not in English, and softirr does not recognize their language, so the errors of the "
            f"measure {BUNDLED} in them are not known: trust a coefficient only after an audit."
        )
    if record is None:
        return (
            f"The texts look like {language}, in which the measure {BUNDLED} was never measured: trust a "
            "coefficient only after an audit."
        )
    return (
        f"The texts look like {language}, in which the measure {BUNDLED} is less reliable than in English: in a "
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
        By the names of :func:`softirr.meaning.measures.languages.project_language`: the share of pairs that mean the
        same that it finds (``found``), and the share of the others that it calls the same (``wrong``).
    """
    from softirr.inference.models import bundled

    model = bundled("multilingual")
    file = None if model is None else model.folder / "measured.json"
    if file is None or not file.is_file():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8"))["languages"])
