"""A measure under a policy: texts lose what does not count before they are scored, and both directions are combined as the policy says.

The raw measure and the cache of scored pairs see the rewritten pair, so two policies that rewrite a pair alike share its score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.measures.base import Measure, Pairs, layers_of, mutual, with_equivalence
from softirr.measures.corrected import CorrectedMeasure, corrected
from softirr.policy.rules import AS_WRITTEN, MoreGeneral, Policy
from softirr.policy.values import value
from softirr.provenance import Progress
from softirr.text import normalize

__all__ = ["PolicyMeasure", "combine_directions", "policy_of", "under_policy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNRELATED = (
    *("headache", "abdominal pain", "skin rash", "high blood pressure", "broken arm", "difficulty swallowing"),
    *("blurred vision", "kidney stones", "hearing loss", "swollen ankles", "iron deficiency", "heart murmur"),
    *("joint stiffness", "frequent urination", "weight gain", "sore throat", "muscle weakness", "lung nodule"),
    *("anxiety", "tooth decay"),
)
"""Findings that have nothing to do with each other."""


def combine_directions(directions: Floats, more_general: MoreGeneral) -> Floats:
    """Directions whose geometric mean is what the policy says of them: their own, the smaller or the larger direction.

    The stronger direction stays, so that it is still known which text is more general; under ``lenient`` both become the stronger one.

    Parameters
    ----------
    directions : shape (n, 2)
    more_general : {"graded", "strict", "lenient"}

    Returns
    -------
    shape (n, 2)

    Examples
    --------
    >>> both = np.array([[0.9, 0.1]])
    >>> [round(float(mutual(combine_directions(both, how))[0]), 3) for how in ("strict", "graded", "lenient")]
    [0.1, 0.3, 0.9]
    """
    if more_general == "graded":
        return directions
    return with_equivalence(directions, directions.min(axis=1) if more_general == "strict" else directions.max(axis=1))


class PolicyMeasure:
    """A measure under a policy; texts that are the same without what does not count score 1.

    Attributes
    ----------
    raw : Measure
        The measure that scores the rewritten texts, whose scores a cache may hold.
    policy : Policy
    """

    decided: Mapping[tuple[str, str], bool] = {}
    """No pair is decided here; see :func:`softirr.corrected`."""

    unrelated = 0.0
    """P of texts that say different things of an attribute that counts: what the measure gives unrelated texts."""

    def __init__(self, raw: Measure, policy: Policy) -> None:
        self.raw = raw
        self.policy = policy

    @property
    def name(self) -> str:
        """The raw measure's name, and what the policy changes."""
        return f"{self.raw.name} ({self.policy.mark()})"

    def rewrite(self, text: str) -> str:
        """A text without what does not count."""
        return self.policy.rewrite(text)

    def adjust(self, directions: Floats) -> Floats:
        """Combine the raw measure's directions, shape (n, 2); both columns are equal without directions."""
        return combine_directions(directions, self.policy.more_general)

    def limits(self, texts: Sequence[str]) -> Callable[[Ints, Ints], NDArray[np.bool_]] | None:
        """Which pairs of texts, by their numbers, say different things of an attribute that counts; None where none counts."""
        if not self.policy.count:
            return None
        said = _said(texts, self.policy.deciding)
        lenient = self.policy.more_general == "lenient"

        def differ(left: Ints, right: Ints) -> NDArray[np.bool_]:
            result = np.zeros(np.broadcast(left, right).shape, dtype=bool)
            for codes in said:
                a, b = codes[left], codes[right]
                result |= (a != b) & (np.minimum(a, b) >= (1 if lenient else 0))
            return result

        return differ

    def score(self, pairs: Pairs) -> Floats:
        """P(a ≡ b) of each pair under the policy, shape (n,)."""
        return self._limited(np.asarray(self.raw.score(self._rewritten(pairs)), dtype=np.float64), pairs)

    def provenance(self) -> Any:
        """The raw measure's provenance, with the policy."""
        return replace(self.raw.provenance(), measure=self.name, policy=self.policy.to_dict())

    def _limited(self, values: Floats, pairs: Pairs) -> Floats:
        """Values of pairs, those of unrelated texts where they say different things of an attribute that counts."""
        differ = self.limits([text for pair in pairs for text in pair])
        if differ is not None:
            values = np.array(values)
            values[differ(np.arange(0, 2 * len(pairs), 2), np.arange(1, 2 * len(pairs), 2))] = self.unrelated
        return values

    def _rewritten(self, pairs: Pairs) -> list[tuple[str, str]]:
        return [(self.rewrite(a), self.rewrite(b)) for a, b in pairs]


class _Directional(PolicyMeasure):
    def entail_both(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) under the policy, shape (n, 2)."""
        return self._limited(self.adjust(cast(Any, self.raw).entail_both(self._rewritten(pairs))), pairs)

    def entail(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) under the policy, shape (n,)."""
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Pairs) -> Floats:
        """P(a ≡ b) of each pair under the policy, shape (n,)."""
        return mutual(self.entail_both(pairs))


class _Checked(PolicyMeasure):
    @property
    def cache_key(self) -> str:
        """The raw measure's key and the policy, for caches that see texts as they are written."""
        told = json.dumps(
            [self.policy.kinds, self.policy.more_general, *([self.policy.deciding] if self.policy.count else [])]
        )
        return f"{cast(Any, self.raw).cache_key}+policy:{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    def entail_checked(self, pairs: Pairs, *, progress: Progress | None = None) -> tuple[Floats, NDArray[np.bool_]]:
        """Directions under the policy, shape (n, 2), and which rows are valid."""
        values, valid = cast(Any, self.raw).entail_checked(self._rewritten(pairs), progress=progress)
        return self._limited(self.adjust(values), pairs), valid


class _Block(PolicyMeasure):
    @cached_property
    def unrelated(self) -> float:  # type: ignore[override]
        """The mean over some unrelated findings.

        Letters of unrelated texts are alike in part, and chance agreement holds that part. With less where an attribute differs, raters who agree on the
        attribute and not on the rest would look as if they agreed beyond chance.
        """
        p = cast(Any, self.raw).block(_UNRELATED, _UNRELATED)
        return float(np.mean(p[~np.eye(len(_UNRELATED), dtype=bool)]))

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """P of all rows with all columns under the policy, shape (len(rows), len(cols))."""
        texts = _Written([*rows, *cols], self.rewrite)
        row, col = texts.place[: len(rows)], texts.place[len(rows) :]
        p = cast(Any, self.raw).block([texts.texts[k] for k in row.tolist()], [texts.texts[k] for k in col.tolist()])
        differ = self._differ(rows, cols)
        return _with_ones(p, row, col, differ, self.unrelated if differ is not None else 0.0)

    def _differ(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.bool_] | None:
        differ = self.limits([*rows, *cols])
        return None if differ is None else differ(np.arange(len(rows))[:, None], len(rows) + np.arange(len(cols)))


class _Indexed(_Block):
    def index(self, texts: Sequence[str]) -> Any:
        """An index of the texts, scored under the policy."""
        written = _Written(texts, self.rewrite)
        differ = self.limits(texts)
        unrelated = self.unrelated if differ is not None else 0.0
        return _PolicyIndex(cast(Any, self.raw).index(written.texts), written.place, differ, unrelated)


class _Written:
    """Different rewritten texts, and the place of each text among them."""

    def __init__(self, texts: Sequence[str], rewrite: Callable[[str], str]) -> None:
        places: dict[str, int] = {}
        found = [places.setdefault(normalize(rewrite(text)), len(places)) for text in texts]
        self.place: Ints = np.array(found, dtype=np.int64)
        self.texts = list(places)


@dataclass(frozen=True, eq=False)
class _PolicyIndex:
    raw: Any
    place: Ints
    differ: Callable[[Ints, Ints], NDArray[np.bool_]] | None
    unrelated: float

    def pairs(self, left: Ints, right: Ints) -> Floats:
        a, b = self.place[left], self.place[right]
        p = np.ones(len(a), dtype=np.float64)
        differ = np.flatnonzero(a != b)
        p[differ] = self.raw.pairs(np.minimum(a, b)[differ], np.maximum(a, b)[differ])
        if self.differ is not None:
            p[self.differ(left, right)] = self.unrelated
        return p

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        row, col = self.place[rows], self.place[cols]
        differ = None if self.differ is None else self.differ(rows[:, None], cols)
        return _with_ones(self.raw.block(row, col), row, col, differ, self.unrelated)


def _with_ones(
    p: NDArray[Any], row: Ints, col: Ints, differ: NDArray[np.bool_] | None, unrelated: float
) -> NDArray[np.float32]:
    p = np.array(p, dtype=np.float32)
    p[row[:, None] == col[None, :]] = 1.0
    if differ is not None:
        p[differ] = unrelated
    return p


def _said(texts: Sequence[str], kinds: Sequence[str]) -> list[Ints]:
    """For each kind the number of what each text says of it: 0 where it says nothing, -1 where it is not understood."""
    result = []
    for kind in kinds:
        numbers: dict[frozenset[str], int] = {frozenset(): 0}
        found = (value(text, kind) for text in map(normalize, texts))
        result.append(
            np.array([-1 if one is None else numbers.setdefault(one, len(numbers)) for one in found], dtype=np.int64)
        )
    return result


def under_policy(measure: Measure, policy: Policy) -> Measure:
    """Make a measure that compares texts under a policy, with the capabilities of the given one (blocks, directions, caching).

    Parameters
    ----------
    measure : Measure
    policy : Policy
        How answers are split is not the measure's part: see :func:`softirr.agreement`.

    Returns
    -------
    Measure
        `measure` itself where the policy changes no score. Decisions of :func:`softirr.corrected` stay as they are.

    Raises
    ------
    InputError
        If the measure is under another policy already, or was calibrated without this one.

    Examples
    --------
    >>> from softirr.measures import measure
    >>> found = under_policy(measure("indel"), Policy(ignore={"severity"}))
    >>> found.score([("severe pain", "mild pain")]).tolist()
    [1.0]
    """
    known = policy_of(measure)
    if not policy.changes_scores or _of_scores(known) == _of_scores(policy):
        return measure
    if known.changes_scores:
        raise InputError(f"The measure {measure.name} is under another policy already.")
    if isinstance(measure, CorrectedMeasure):
        return corrected(under_policy(measure.raw, policy), measure.calibration, measure.decided)
    if policy.more_general == "lenient" and hasattr(measure, "lenient"):
        measure = measure.lenient()
    kinds: list[type] = []
    if hasattr(measure, "entail_checked"):
        kinds.append(_Checked)
    if hasattr(measure, "entail_both"):
        kinds.append(_Directional)
    if hasattr(measure, "block"):
        kinds.append(_Indexed if hasattr(measure, "index") else _Block)
    make: Callable[..., PolicyMeasure] = (
        kinds[0] if len(kinds) == 1 else type("PolicyMeasure", (*kinds, PolicyMeasure), {})
    )
    return make(measure, policy)


def _of_scores(policy: Policy) -> tuple[Any, ...]:
    return policy.ignore, policy.count, policy.more_general


def policy_of(measure: Measure) -> Policy:
    """The policy that a measure is under; :data:`softirr.policy.rules.AS_WRITTEN` where it is under none.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    Policy
    """
    for layer in layers_of(measure):
        if isinstance(layer, PolicyMeasure):
            return layer.policy
    return AS_WRITTEN
