"""Abbreviations with their senses, and initials."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from lab.train.graph import Graph
from lab.train.perturb import small_words
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize, plain_number

_MAIN_SENSE = 0.8
"""Share in real notes from which a sense is what an abbreviation means to any reader."""
_ALIKE = 0.6
"""Indel similarity from which two long forms may be one sense in other words."""
_ACRONYM = re.compile(r"(?=.*[A-Z].*[A-Z])[A-Z0-9][A-Z0-9-]{1,6}")


def is_acronym(text: str) -> bool:
    """Whether a text is all capitals (and digits) and at most seven characters long.

    Such a text may have several senses.

    Examples
    --------
    >>> is_acronym("COPD"), is_acronym("Gout"), is_acronym("X-SCID")
    (True, False, True)
    """
    return _ACRONYM.fullmatch(text) is not None


def abbreviation_graph(files: Sequence[str | os.PathLike[str]], keep: Callable[[str], bool], share: float) -> Graph:
    """Tables of abbreviations (``short_form, long_form``, and ``frequency``, the share of the sense) as one graph.

    Each sense is a concept. It entails its abbreviation; the reverse is true of the main sense only. Other senses of
    the abbreviation are its contrasts, unless they look alike.
    """
    from rapidfuzz.distance import Indel

    shares: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for file in files:
        for _, row in read_table(Path(file), ("short_form", "long_form")):
            short, long = normalize(row["short_form"]), normalize(row["long_form"])
            if short and long and short.casefold() != long.casefold() and keep(long) and keep(short):
                known_share = shares[short].get(long.casefold(), 0.0)
                share_of_sense = plain_number(row.get("frequency") or "") or 0.0
                shares[short][long.casefold()] = max(known_share, share_of_sense if 0 <= share_of_sense <= 1 else 0.0)
    forms: dict[str, int] = {}
    one_way: list[dict[tuple[str, str], None]] = []
    contrasts: list[dict[int, None]] = []
    for short, senses in shares.items():
        for long in senses:
            if long not in forms:
                forms[long] = len(one_way)
                one_way.append({})
                contrasts.append({})
        for long, share_of_sense in senses.items():
            k = forms[long]
            one_way[k][long, short] = None
            if share_of_sense >= _MAIN_SENSE or len(senses) == 1:
                one_way[k][short, long] = None
            other_senses = [o for o in senses if Indel.normalized_similarity(long, o) < _ALIKE]
            contrasts[k].update((forms[o], None) for o in other_senses[:8])
    return Graph(
        "abbreviations with their senses",
        [(long,) for long in forms],
        contrasts=[tuple(c) for c in contrasts],
        one_way=[tuple(pairs) for pairs in one_way],
        share=share,
    )


def initials(text: str) -> str | None:
    """The initialism of a term of three to six words, small words left out; None if it would be too short."""
    words = _counted_words(text)
    if not 3 <= len(words) <= 6 or not all(w.isalpha() for w in words):
        return None
    return "".join(w[0].upper() for w in words)


def likeness_to_initials(text: str, short: str) -> tuple[int, int]:
    """How many letters of an initialism, in order, begin words of a text, and how many occur in it."""
    from rapidfuzz.distance import LCSseq

    first = "".join(w[0] for w in _counted_words(text)).casefold()
    return LCSseq.similarity(short.casefold(), first), LCSseq.similarity(short.casefold(), text.casefold())


def _counted_words(text: str) -> list[str]:
    return [w for w in re.split(r"[\s-]+", text) if w and w.lower() not in small_words(1)]


def false_initials(rng: Random, short: str) -> str:
    """Another initialism: a letter changed, or two letters swapped."""
    k = rng.randrange(len(short))
    if rng.random() < 0.3 and len(set(short)) > 1:
        letters = list(short)
        while "".join(letters) == short:
            rng.shuffle(letters)
        return "".join(letters)
    return short[:k] + rng.choice([c for c in "ABCDEFGHILMNOPRSTUV" if c != short[k]]) + short[k + 1 :]
