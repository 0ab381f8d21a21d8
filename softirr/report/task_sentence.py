"""One sentence about the answers to a task: who differs, and in what.

The panel, the list of tasks and the files show this sentence, so the groups of texts behind it are computed here, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from softirr.defaults import THRESHOLD
from softirr.numbers import plural

LONGEST_SENTENCE = 100
"""Maximum number of characters of the sentence."""
_QUOTE_LENGTHS = (40, 28, 18, 12)
_ISOLATE, _END = "\u2068", "\u2069"
_DIRECTIONS = frozenset({"R", "AL", "AN", "LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI"})

Meaning = dict[str, str]
"""Rater -> the text with which they state it."""


def task_sentence(
    field: Mapping[str, Any], names: Mapping[str, str], *, threshold: float = THRESHOLD, rater: str = "annotator"
) -> str:
    """Return one sentence about a field of a task; empty with fewer than two answers.

    Parameters
    ----------
    field : mapping
        ``raters`` (ids in order), ``empty`` (ids of raters with an empty answer), ``matches``, ``unmatched``,
        ``reasons`` and ``decisions`` of one field of one task.
    names : mapping
        Display names of the raters.
    threshold : float
        Equivalence from which two texts match.
    rater : str
        The word for raters.

    Examples
    --------
    >>> field = {"raters": ["1", "2", "3"], "unmatched": {"3": ["rash"]},
    ...          "matches": [{"texts": {"1": "fever", "2": "fever", "3": "fever"}, "equivalence": 1.0}]}
    >>> task_sentence(field, {"1": "Ann", "2": "Ben", "3": "Cem"})
    'Only Cem has “rash”.'
    """
    raters = [str(key) for key in field["raters"]]
    if len(raters) < 2:
        return ""
    shown_names = {key: isolated(names.get(key, key)) for key in raters}
    differences = list(_differences(field, raters, threshold))
    if not differences:
        everybody = listed(list(shown_names.values())) if len(raters) == 2 else f"All {len(raters)} {rater}s"
        has_texts = any(field["matches"]) or any(field["unmatched"].values())
        return f"{everybody} {'say the same' if has_texts else 'found nothing to write'}."
    return _fit(differences, shown_names, rater)


def meanings_of(field: Mapping[str, Any], threshold: float = THRESHOLD) -> list[Meaning]:
    """Group the texts of one field of a task by meaning, the meaning of most raters first.

    Texts of a match belong together if equivalent pairs connect them, and texts that a reviewer decided to be the same
    belong together unless one rater has both.
    """
    groups: list[Meaning] = []
    for match in field["matches"]:
        groups += _connected(match, threshold)
    groups += [{str(rater): text} for rater, texts in field["unmatched"].items() for text in texts]
    for decision in field.get("decisions") or ():
        if decision["verdict"] == "same":
            groups = _merged(groups, set(decision["texts"]))
    return sorted(groups, key=len, reverse=True)


def quoted(text: str, longest: int = _QUOTE_LENGTHS[0]) -> str:
    """Return the beginning of a text in quotation marks."""
    short = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    return f"“{isolated(short)}”"


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence."""
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def isolated(text: str) -> str:
    """Isolate the direction of a person's text, so that it does not affect the words around it."""
    if not any(unicodedata.bidirectional(character) in _DIRECTIONS for character in text):
        return text
    return f"{_ISOLATE}{''.join(_balanced(text))}{_END}"


def _balanced(text: str) -> Iterable[str]:
    """Drop closing isolates without an opening one, and close those that stay open."""
    depth = 0
    for character in text:
        kind = unicodedata.bidirectional(character)
        depth += kind in ("LRI", "RLI", "FSI")
        if kind == "PDI":
            if not depth:
                continue
            depth -= 1
        yield character
    yield _END * depth


# --- groups ---------------------------------------------------------------------------------------------------------


def _connected(match: Mapping[str, Any], threshold: float) -> list[Meaning]:
    texts = {str(rater): text for rater, text in match["texts"].items()}
    pairs = pairs_of(match)
    if not pairs and match["equivalence"] >= threshold:
        return [texts]
    groups = [{rater} for rater in texts]
    for pair in pairs:
        if _is_same(pair, threshold):
            linked = [group for group in groups if group & set(map(str, pair["raters"]))]
            groups = [group for group in groups if group not in linked] + [set().union(*linked)]
    return [{rater: text for rater, text in texts.items() if rater in group} for group in groups]


def pairs_of(match: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the pairs of a match; a match of two texts without stored pairs has one pair with the match's value."""
    raters = list(match["texts"])
    only_pair = {"raters": raters, "equivalence": match["equivalence"]}
    return match.get("pairs") or ([only_pair] if len(raters) == 2 else [])


def _is_same(pair: Mapping[str, Any], threshold: float) -> bool:
    decision = pair.get("decision")
    return decision["verdict"] == "same" if decision else pair["equivalence"] >= threshold


def _merged(groups: Sequence[Meaning], texts: set[str]) -> list[Meaning]:
    same = [group for group in groups if texts & set(group.values())]
    if sum(map(len, same)) > len(set().union(*same)):
        return list(groups)
    merged: Meaning = {rater: text for group in same for rater, text in group.items()}
    return [group for group in groups if group not in same] + ([merged] if merged else [])


# --- differences ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Difference:
    """Raters with a text, without it, or without any answer.

    Attributes
    ----------
    kind : str
        ``instead`` (of what most raters have), ``against`` (the text of `other_raters`), ``only``, ``lacks`` or
        ``empty``.
    """

    kind: str
    who: tuple[str, ...]
    text: str = ""
    other_text: str = ""
    other_raters: tuple[str, ...] = ()

    def phrase(self, people: Mapping[tuple[str, ...], str], longest: int) -> str:
        has, lacks = ("have", "lack") if len(self.who) > 1 else ("has", "lacks")
        who, text, other_text = people[self.who], quoted(self.text, longest), quoted(self.other_text, longest)
        match self.kind:
            case "instead":
                return f"{who} {has} {text} instead of {other_text}"
            case "against":
                others_have = "have" if len(self.other_raters) > 1 else "has"
                return f"{who} {has} {text}, {people[self.other_raters]} {others_have} {other_text}"
            case "only":
                return f"only {who} {has} {text}"
            case "lacks":
                return f"{who} {lacks} {text}"
            case _:
                return f"{who} wrote nothing"


def _differences(field: Mapping[str, Any], raters: Sequence[str], threshold: float) -> Iterator[_Difference]:
    """List the differences: replaced texts first, then texts of a few raters, missing texts, and empty answers."""
    meanings = meanings_of(field, threshold)
    empty = tuple(str(rater) for rater in field.get("empty") or ())
    explained: set[tuple[str, int]] = set()
    for first, second in _opposites(field, meanings):
        deviating, agreeing = (
            tuple(rater for rater in meanings[a] if rater not in meanings[b])
            for a, b in ((second, first), (first, second))
        )
        if not deviating or not agreeing or any((rater, second) in explained for rater in deviating):
            continue
        texts = meanings[second][deviating[0]], meanings[first][agreeing[0]]
        if 2 * len(meanings[first]) > len(raters):
            explained |= set(product(deviating, (first, second)))
            yield _Difference("instead", deviating, *texts)
        else:
            explained |= set(product((*deviating, *agreeing), (first, second)))
            yield _Difference("against", agreeing, *texts[::-1], deviating)
    yield from _unequal_wordings(field, meanings, threshold)
    only, lacking = [], []
    for index, meaning in enumerate(meanings):
        text = next(iter(meaning.values()))
        missing = tuple(r for r in raters if r not in meaning and r not in empty and (r, index) not in explained)
        if 2 * len(meaning) > len(raters):
            lacking += [_Difference("lacks", missing, text)] if missing else []
        elif not any((rater, index) in explained for rater in meaning):
            only.append(_Difference("only", tuple(meaning), text))
    if len(only) == len(lacking) == 1 and only[0].who == lacking[0].who:
        yield _Difference("instead", only[0].who, only[0].text, lacking[0].text)
    else:
        yield from (*only, *lacking)
    if empty and meanings:
        yield _Difference("empty", empty)


def _opposites(field: Mapping[str, Any], meanings: Sequence[Meaning]) -> Iterator[tuple[int, int]]:
    """Yield pairs of meanings with texts that exclude each other or differ in an attribute, best supported first."""
    decided = [set(decision["texts"]) for decision in field.get("decisions") or () if decision["verdict"] == "same"]
    found_pairs: dict[tuple[int, int], None] = {}
    for reason in field.get("reasons") or ():
        if reason["kind"] in ("unrelated", "one rater only") or set(reason["texts"]) in decided:
            continue
        sides = [
            next((i for i, meaning in enumerate(meanings) if meaning.get(str(rater)) == text), None)
            for rater, text in zip(reason["raters"], reason["texts"], strict=True)
        ]
        if None not in sides and sides[0] != sides[1]:
            found_pairs[min(sides), max(sides)] = None  # type: ignore[type-var,index]
    yield from sorted(found_pairs)


def _unequal_wordings(field: Mapping[str, Any], meanings: Sequence[Meaning], threshold: float) -> Iterator[_Difference]:
    """Yield pairs of texts that share a meaning only through a third text."""
    apart = {
        frozenset(match["texts"][rater] for rater in pair["raters"])
        for match in field["matches"]
        for pair in pairs_of(match)
        if not _is_same(pair, threshold)
    }
    for meaning in meanings:
        for a, b in combinations(dict.fromkeys(meaning.values()), 2):
            if frozenset((a, b)) in apart:
                who, other_raters = (tuple(r for r, text in meaning.items() if text == side) for side in (a, b))
                yield _Difference("against", who, a, b, other_raters)


# --- words ----------------------------------------------------------------------------------------------------------


def _fit(differences: Sequence[_Difference], names: Mapping[str, str], rater: str) -> str:
    """Return as many differences as fit, with shorter quotations and without names if necessary."""
    sets = {who for difference in differences for who in (difference.who, difference.other_raters)}
    with_names = {who: listed([names[rater] for rater in who]) for who in sets}
    with_counts = {who: plural(len(who), rater) for who in sets}
    for people, longest in product((with_names, with_counts), _QUOTE_LENGTHS):
        phrases = [difference.phrase(people, longest) for difference in differences]
        for n in range(min(3, len(phrases)), 0, -1):
            sentence = _sentence(phrases[:n], len(phrases) - n)
            if len(sentence) <= LONGEST_SENTENCE:
                return sentence
    return f"The answers differ in {plural(len(differences), 'text')}."


def _sentence(phrases: Sequence[str], n_more: int) -> str:
    more = [plural(n_more, "more difference")] if n_more else []
    words = "; ".join([*phrases, *more])
    return f"Only{words[4:]}." if words.startswith("only ") else f"{words}."
