"""What texts mean by terminologies: their concepts, and how two of them are related."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.terminology.index import TerminologyIndex
from softirr.meaning.terminology.lookup import MATCH_KINDS, find
from softirr.text import normalize

__all__ = ["NO_ATTRIBUTES", "RULES", "Attribute", "Coder", "Known", "Simplify", "Verdict"]

Attribute = tuple[str, str]
"""A kind of attribute and its wording, such as ("side", "left")."""
Simplify = Callable[[str], Iterable[tuple[str, tuple[Attribute, ...]]]]
"""Shorter forms of a text, the longest first, each with the attributes that were taken off."""
Verdict = tuple[float, float]
"""P(a ⇒ b) and P(b ⇒ a)."""

NO_ATTRIBUTES: tuple[Attribute, ...] = ()
RULES = 2
"""Raise it whenever other concepts are found for a text, or two are related otherwise.

Scores that were kept are then computed anew.
"""
_ALTERING = frozenset({"negation", "subject"})
"""Attributes that make another statement: "no fever" does not imply fever."""
_UNCLEAR = frozenset({"certainty", "time"})
"""Attributes that can leave a statement as it is or not ("acute", "history of"): the measure decides."""
_CLOSED = frozenset({"side"})
"""Attributes whose different values exclude each other.

Other values may be two wordings of one, such as "severe" and "marked".
"""
_CAUSE = "cause"
_TERMINOLOGY = 32
"""Bits of a concept's number below the number of its terminology."""
_MOST_FORMS = 15


@dataclass(frozen=True)
class Known:
    """A text that terminologies know.

    Attributes
    ----------
    concepts : tuple of int
        Every concept that the text names, ascending; a concept's number includes the number of its terminology.
    match_kind : str
        How it was found (one of ``MATCH_KINDS``).
    attributes : tuple of (str, str)
        Attributes that had to be taken off to find it, sorted.
    """

    concepts: tuple[int, ...]
    match_kind: str
    attributes: tuple[Attribute, ...] = NO_ATTRIBUTES

    @property
    def terminologies(self) -> frozenset[int]:
        """The terminologies that know it."""
        return frozenset(concept >> _TERMINOLOGY for concept in self.concepts)


class Coder:
    """Finds the concepts of texts in one or more terminologies, and remembers them.

    Parameters
    ----------
    simplify : callable, optional
        Shorter forms of a text that is not known as it is, such as
        :func:`softirr.meaning.policy.simplified.simplifications`.
    """

    def __init__(self, terminologies: Sequence[TerminologyIndex], simplify: Simplify | None = None) -> None:
        self.terminologies = tuple(terminologies)
        self.simplify = simplify
        self._known: dict[str, Known | None] = {}

    def know(self, texts: Sequence[str]) -> list[Known | None]:
        """What is known of each text; None where it is nothing."""
        given = [normalize(text) for text in texts]
        new = list(dict.fromkeys(text for text in given if text not in self._known))
        if new:
            self._known.update(zip(new, self._look_up(new), strict=True))
            if self.simplify is not None:
                self._shorten([text for text in new if self._known[text] is None], self.simplify)
        return [self._known[text] for text in given]

    def names(self, known: Known, most: int) -> list[str]:
        """Names of the concepts of a text, at most so many, in turn for each concept."""
        lists = [index.names(number, most) for index, number in map(self._place, known.concepts)]
        in_turn = (own[i] for i in range(most) for own in lists if i < len(own))
        return list(dict.fromkeys(in_turn))[:most]

    def ancestors(self, concept: int) -> frozenset[int]:
        """Concepts above a concept."""
        index, number = self._place(concept)
        base = concept >> _TERMINOLOGY << _TERMINOLOGY
        return frozenset(base + one for one in index.ancestors(number))

    def compare(self, a: Known, b: Known) -> Verdict | None:
        """P(a ⇒ b) and P(b ⇒ a), or None where the terminologies do not tell.

        A shared concept with the same attributes is the same; with more attributes one text is more specific. An
        ancestor is more general. Concepts that are not related differ. Ambiguous texts have the best of their concepts.
        """
        if a.terminologies.isdisjoint(b.terminologies):
            return None
        attributes = _compare_attributes(a.attributes, b.attributes)
        verdicts: list[Verdict | None] = []
        for one in a.concepts:
            for other in b.concepts:
                if one == other:
                    verdicts.append(attributes)
                elif other in self.ancestors(one):
                    verdicts.append(_below(a.attributes, b.attributes, attributes))
                elif one in self.ancestors(other):
                    turned = None if attributes is None else attributes[::-1]
                    verdict = _below(b.attributes, a.attributes, turned)
                    verdicts.append(None if verdict is None else verdict[::-1])
        if (1.0, 1.0) in verdicts:
            return 1.0, 1.0
        informative = {verdict for verdict in verdicts if verdict is not None} - {(0.0, 0.0)}
        if None in verdicts or len(informative) > 1:
            return None
        return informative.pop() if informative else (0.0, 0.0)

    def _place(self, concept: int) -> tuple[TerminologyIndex, int]:
        return self.terminologies[concept >> _TERMINOLOGY], concept & ((1 << _TERMINOLOGY) - 1)

    def _look_up(self, texts: Sequence[str]) -> list[Known | None]:
        concepts: list[list[int]] = [[] for _ in texts]
        best: NDArray[np.int64] = np.full(len(texts), len(MATCH_KINDS), dtype=np.int64)
        for number, index in enumerate(self.terminologies):
            result = find(index, texts)
            for text, concept in zip(result.text.tolist(), result.concept.tolist(), strict=True):
                concepts[text].append((number << _TERMINOLOGY) + concept)
            best = np.where(result.match_kind >= 0, np.minimum(best, result.match_kind), best)
        return [
            Known(tuple(own), MATCH_KINDS[way]) if own else None
            for own, way in zip(concepts, best.tolist(), strict=True)
        ]

    def _shorten(self, texts: Sequence[str], simplify: Simplify) -> None:
        forms = {text: list(simplify(text))[:_MOST_FORMS] for text in texts}
        shorter = list(dict.fromkeys(form for own in forms.values() for form, _ in own))
        verdicts = dict(zip(shorter, self._look_up(shorter), strict=True)) if shorter else {}
        for text, own in forms.items():
            for form, attributes in own:
                known = verdicts[form]
                if known is not None and attributes and not self._names_cause(known, attributes):
                    self._known[text] = Known(known.concepts, known.match_kind, tuple(sorted(attributes)))
                    break

    def _names_cause(self, known: Known, attributes: Iterable[Attribute]) -> bool:
        """Whether a terminology has names with one of these causes.

        There the cause makes another concept ("insomnia due to other mental disorder").
        """
        indexes = [self.terminologies[number] for number in known.terminologies]
        return any(kind == _CAUSE and index.has_phrase(wording) for kind, wording in attributes for index in indexes)


def _compare_attributes(a: tuple[Attribute, ...], b: tuple[Attribute, ...]) -> Verdict | None:
    """What the attributes of two texts with the same concept say."""
    if a == b:
        return 1.0, 1.0
    more_a, more_b = set(a) - set(b), set(b) - set(a)
    kinds_a, kinds_b = ({kind for kind, _ in more} for more in (more_a, more_b))
    if (kinds_a | kinds_b) & _ALTERING or kinds_a & kinds_b & _CLOSED:
        return 0.0, 0.0
    if (kinds_a | kinds_b) & _UNCLEAR or kinds_a & kinds_b:
        return None
    if more_a and more_b:
        return 0.0, 0.0
    return (1.0, 0.0) if more_a else (0.0, 1.0)


def _below(lower: tuple[Attribute, ...], upper: tuple[Attribute, ...], attributes: Verdict | None) -> Verdict | None:
    """The directions where the concept of one text is below the concept of the other one.

    The attributes compared from the lower to the upper.
    """
    if set(upper) <= set(lower):
        kinds = {kind for kind, _ in set(lower) - set(upper)}
        return None if kinds & (_ALTERING | _UNCLEAR) else (1.0, 0.0)
    if attributes == (0.0, 0.0):
        return attributes
    return None  # the narrower concept may imply the attribute of the broader text
