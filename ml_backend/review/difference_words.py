"""Differences between annotators in words, with texts of people isolated from the words around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from softirr.meaning.policy.attributes import KINDS

__all__ = ["Clause", "against", "each_other", "instead", "isolated", "listed", "quoted"]

LONGEST = 32
"""Characters of a text that a sentence quotes."""
_OPPOSED = (*KINDS, "contradiction", "spelling", "look-alike")
_ISOLATE, _END = "\u2068", "\u2069"
_TURNS = frozenset({"R", "AL", "AN", "LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI"})


class Clause(NamedTuple):
    """One difference: "Ben lacks “fever”", "Ben adds “left” to Ann’s “pain”"."""

    who: tuple[str, ...]
    words: str
    """With {has}, {lacks} and {adds}, which depend on the number of annotators, and {others}."""
    others: tuple[str, ...] = ()
    """Who has something else, where that is not what most annotators have."""


def _sides(reason: Mapping[str, Any]) -> tuple[str, str] | None:
    """What the first and the second text say, where the reason is about two words."""
    left, middle, right = str(reason["words"]).partition(" against ")
    return (left.strip("“”"), right.strip("“”")) if middle and reason["kind"] in _OPPOSED else None


def instead(reason: Mapping[str, Any], side: int) -> str:
    """A reason from the side of those who differ from what most annotators have."""
    words = _sides(reason)
    if reason["kind"] == "negation" or words is None:
        text, usual = (quoted([reason["texts"][at]]) for at in (side, 1 - side))
        return f"{{has}} {_general(reason, side)}{text} instead of {usual}"
    own, other = words[side], words[1 - side]
    if own == f"no {reason['kind']}":
        return f"{{lacks}} {quoted([other])} in {quoted([reason['texts'][1 - side]])}"
    if other == f"no {reason['kind']}":
        return f"{{adds}} {quoted([own])}"
    name = f" ({reason['name']})" if reason["kind"] in ("spelling", "look-alike") else ""
    return f"{{has}} {quoted([own])} instead of {quoted([other])}{name}"


def each_other(reason: Mapping[str, Any], side: int, who: tuple[str, ...], others: tuple[str, ...]) -> Clause:
    """A reason between annotators of whom neither has what most annotators have; `side` is the place of `who` in it."""
    words, texts = _sides(reason), reason["texts"]
    nothing = f"no {reason['kind']}"
    if words is not None and nothing in words:
        at = 1 - words.index(nothing)
        if at != side:
            who, others = others, who
        return Clause(who, f"{{adds}} {quoted([words[at]])} to {{others}}’s {quoted([texts[1 - at]])}", others)
    own, other = (
        (words[side], words[1 - side]) if words and reason["kind"] != "negation" else (texts[side], texts[1 - side])
    )
    general = _general(reason, side)
    return Clause(who, f"{{has}} {general}{quoted([own])} where {{others}} {{have}} {quoted([other])}", others)


def _general(reason: Mapping[str, Any], side: int) -> str:
    if reason["kind"] != "more general" or "broader" not in reason:
        return ""
    return "the more general " if reason["broader"] == side else "the more specific "


def against(reason: Mapping[str, Any]) -> str:
    """A reason without anybody's side: "left against right"."""
    words = _sides(reason)
    if reason["kind"] == "negation":
        return "negated in one answer and affirmed in another"
    return f"{isolated(words[0])} against {isolated(words[1])}" if words else str(reason["name"])


def quoted(texts: Sequence[str]) -> str:
    """The first texts, shortened, and the number of the others; for a clause."""
    shown = [f"“{_word(text if len(text) <= LONGEST else f'{text[: LONGEST - 1].rstrip()}…')}”" for text in texts[:2]]
    return listed([*shown, *([f"{len(texts) - 2} more"] if len(texts) > 2 else [])])


def listed(names: Sequence[str]) -> str:
    """The names in a sentence."""
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _word(text: str) -> str:
    """A person's text inside a clause, whose braces are no places of the clause."""
    return isolated(text).replace("{", "{{").replace("}", "}}")


def isolated(text: str) -> str:
    """A person's text inside a sentence, whose direction and control characters do not affect the words around it."""
    if not any(unicodedata.bidirectional(one) in _TURNS for one in text):
        return text
    return f"{_ISOLATE}{''.join(_balanced(text))}{_END}"


def _balanced(text: str) -> Iterable[str]:
    """The text without ends of isolates that it did not begin, and with the ends of those that it did."""
    depth = 0
    for one in text:
        kind = unicodedata.bidirectional(one)
        depth += kind in ("LRI", "RLI", "FSI")
        if kind == "PDI":
            if not depth:
                continue
            depth -= 1
        yield one
    yield _END * depth
