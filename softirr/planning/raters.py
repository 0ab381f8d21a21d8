"""Raters by themselves: repeated items, drift over time, and groups of raters who agree among themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softirr.coefficients.intervals import FEW_ITEMS, Coefficient
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures.automatic import CacheOption, ProgressOption
from softirr.planning.compare import moments_of, opened, places_of, table_values, used_policy
from softirr.planning.comparison import Difference, measure_told, policy_told
from softirr.planning.difference import holm, trend
from softirr.policy.rules import Policy
from softirr.report.agreement import Scored, agreement, scored
from softirr.report.options import AgreementOptions
from softirr.report.text import printable, table_lines
from softirr.tables.ratings import Floats, Ints, sums
from softirr.tables.table import AnnotationTable, Answer
from softirr.tables.weights import refuse_weights

__all__ = ["RaterGroups", "Raters", "Repeats", "raters"]

_LEAST_SHARED = 10
_RESAMPLED = 200
_STABLE = 0.8
_APART = 0.1
_MOST_GROUPS = 5


@dataclass(frozen=True)
class Repeats:
    """How far a rater agrees with the rater's own earlier answer.

    Attributes
    ----------
    rater : str
        Empty for all raters together.
    n_items : int
        Items answered twice.
    agreement : Coefficient
        Mean equivalence of the first and the second answer.
    alpha : Coefficient
        The same beyond chance (Krippendorff's alpha).
    """

    rater: str
    n_items: int
    agreement: Coefficient
    alpha: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rater": self.rater,
            "n_items": self.n_items,
            "agreement": self.agreement.to_dict(),
            "alpha": self.alpha.to_dict(),
        }


@dataclass(frozen=True)
class RaterGroups:
    """Groups of raters who agree more among themselves than with the others.

    Attributes
    ----------
    groups : tuple of tuple of str
    within, between : float
        Mean equivalence of two raters of one group, and of different groups.
    stability : float
        Mean adjusted Rand index with the groups of resampled items: 1 is always the same groups, 0 is chance.
    found : bool
        Whether the groups are stable and apart; otherwise they are noise.
    """

    groups: tuple[tuple[str, ...], ...]
    within: float
    between: float
    stability: float
    found: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "groups": [list(group) for group in self.groups],
            "within": self.within,
            "between": self.between,
            "stability": self.stability,
            "found": self.found,
        }


@dataclass(frozen=True, repr=False)
class Raters:
    """What is known of raters by themselves.

    Attributes
    ----------
    measure : str
    repeats : tuple of Repeats
        All raters together first, then each with two repeated items or more.
    drift : tuple of Difference
        Change of each rater's agreement with the others from the first to the last item.
    groups : RaterGroups or None
    notes : tuple of str
    policy : Policy
        What counted as the same.
    """

    measure: str
    repeats: tuple[Repeats, ...] = ()
    drift: tuple[Difference, ...] = ()
    groups: RaterGroups | None = None
    notes: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        return f"<Raters: {len(self.repeats)} with repeats, {len(self.drift)} with drift, measure {self.measure}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        return {
            "schema_version": 1,
            "measure": self.measure,
            "policy": self.policy.to_dict(),
            "repeats": [one.to_dict() for one in self.repeats],
            "drift": [{"rater": one.b, **one.to_dict()} for one in self.drift],
            "groups": None if self.groups is None else self.groups.to_dict(),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """As lines of text."""
        said = [f"Raters, {measure_told(self.measure, self.policy)}, not audited", *policy_told(self.policy)]
        if self.repeats:
            head = ("repeated items", "items", "agreement with oneself", "95% interval", "alpha")
            rows = [
                (
                    printable(r.rater) or "all raters",
                    f"{r.n_items:,}",
                    _number(r.agreement.value),
                    _between(r.agreement),
                    _number(r.alpha.value),
                )
                for r in self.repeats
            ]
            said += ["", *table_lines(head, rows)]
        if self.drift:
            columns = ("drift", "items", "change", "95% interval", "p", "p adjusted")
            changes = [
                (
                    printable(d.b),
                    f"{d.n_shared:,}",
                    _number(d.difference.value),
                    _between(d.difference),
                    _number(d.p),
                    _number(d.p_adjusted),
                )
                for d in self.drift
            ]
            said += ["", *table_lines(columns, changes)]
        if self.groups is not None:
            said += ["", *_groups_told(self.groups)]
        return [*said, *(f"Note: {note}" for note in self.notes)]


def raters(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    same: str | None = None,
    earlier: AnnotationTable | None = None,
    over: str | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Raters:
    """Raters by themselves: repeated items, drift, and groups.

    Parameters
    ----------
    table : AnnotationTable
    measure, options, cache, progress
        As for :func:`softirr.agreement`.
    same : str, optional
        A field: items with the same value are the same thing, shown again. The answers to the first and the second item are compared.
    earlier : AnnotationTable, optional
        The same table with first answers where a rater answered an item twice: read with ``repeats="first"``.
    over : str, optional
        A field with dates or numbers, for drift.

    Returns
    -------
    Raters

    Raises
    ------
    InputError
        If the table was read without one of the fields.

    Examples
    --------
    >>> import softirr
    >>> rows = [(str(i), who, f"text {i % 3}") for i in range(12) for who in "abcd"]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> raters(table, "exact").groups.found
    False
    """
    refuse_weights(table, "The report on raters")
    notes: list[str] = []
    with opened(measure, options, cache, progress) as (made, how, store, told):
        found = scored(table, made, how, cache=store, progress=told)
        again: tuple[Repeats, ...] = ()
        if same is not None or earlier is not None:
            twice = _shown_again(table, same) if same is not None else _answered_again(table, earlier)
            again = _repeats(twice, made, how, store, told)
            if not again:
                notes.append("No rater answered the same item twice.")
            elif again[0].n_items < FEW_ITEMS:
                notes.append(f"Fewer than {FEW_ITEMS} repeated items: the intervals are approximate.")
        drift = () if over is None else _drift(table, over, found)
        groups = _groups(table, found)
    if len(found.ratings.comparable_items) < FEW_ITEMS:
        notes.append(f"Fewer than {FEW_ITEMS} items with two answers: intervals and groups are approximate.")
    if groups is None:
        notes.append(f"Groups of raters need four raters or more who share {_LEAST_SHARED} items with each other.")
    return Raters(made.name, again, drift, groups, tuple(notes), used_policy(made, table))


Twice = Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]
"""First and second answer by (item, rater)."""


def _shown_again(table: AnnotationTable, field: str) -> Twice:
    values = table_values(table, field)
    given: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        if values[item]:
            given.setdefault((values[item], table.raters[rater]), []).append(table.texts_of(answer))
    return {key: (texts[0], texts[1]) for key, texts in given.items() if len(texts) > 1}


def _answered_again(table: AnnotationTable, earlier: AnnotationTable | None) -> Twice:
    if earlier is None:
        return {}
    cells = []
    for one in (earlier, table):
        rows = zip(one.item.tolist(), one.rater.tolist(), one.answer.tolist(), strict=True)
        cells.append({(one.items[i], one.raters[r]): one.texts_of(a) for i, r, a in rows})
    repeated = {
        (entry.item, entry.rater) for entry in (*earlier.excluded, *table.excluded) if "same rater" in entry.reason
    }
    return {key: (cells[0][key], cells[1][key]) for key in cells[0] if key in repeated and key in cells[1]}


def _repeats(twice: Twice, made: Measure, how: AgreementOptions, store: Any, told: Any) -> tuple[Repeats, ...]:
    if not twice:
        return ()
    table = AnnotationTable.from_answers(
        Answer(f"{rater}\n{item}", occasion, texts)
        for (item, rater), both in twice.items()
        for occasion, texts in zip(("first", "second"), both, strict=True)
    )
    found = []
    names = sorted({rater for _, rater in twice})
    for name in ("", *(names if len(names) > 1 else ())):
        part = table if not name else table.part(items=[item for item in table.items if item.split("\n")[0] == name])
        if name and len(part.items) < 2:
            continue
        report = agreement(part, made, how, cache=store, progress=told)
        found.append(
            Repeats(
                name or (names[0] if len(names) == 1 else ""),
                len(part.items),
                report.coefficients["observed_agreement"],
                report.coefficients["krippendorff_alpha"],
            )
        )
    return tuple(found)


def _drift(table: AnnotationTable, field: str, found: Scored) -> tuple[Difference, ...]:
    """Trend of each rater's agreement with the others."""
    at = moments_of(field, table_values(table, field))
    comparisons = found.ratings.comparisons
    changes = []
    for number, rater in enumerate(table.raters):
        mine = comparisons.of_rater(number)
        item = comparisons.item[mine]
        n = np.bincount(item, minlength=len(table.items))
        used = [i for i in np.flatnonzero(n).tolist() if at[i] is not None]
        if len(used) < _LEAST_SHARED:
            continue
        means = sums(item, found.scores[mine], len(table.items))[used] / n[used]
        slope, p = trend(means, places_of(np.array([at[i] for i in used], dtype=np.float64)))
        changes.append(Difference("first item", rater, slope, p, p, len(used)))
    adjusted = holm([one.p for one in changes])
    return tuple(replace(one, p_adjusted=p) for one, p in zip(changes, adjusted, strict=True))


def _groups(table: AnnotationTable, found: Scored) -> RaterGroups | None:
    """Groups by average linkage of the mean equivalence of each rater pair, and how stable they are when items are drawn again."""
    comparisons = found.ratings.comparisons
    n, pairs = len(table.raters), comparisons.rater_pairs
    if n < 4 or len(pairs) < n * (n - 1) // 2 or comparisons.shared.min() < _LEAST_SHARED:
        return None
    m, items = len(pairs), found.ratings.n_items
    total = np.zeros((m, items))
    count = np.zeros((m, items))
    np.add.at(total, (comparisons.rater_pair, comparisons.item), found.scores)
    np.add.at(count, (comparisons.rater_pair, comparisons.item), 1.0)
    own = total.sum(axis=1) / count.sum(axis=1)
    label, apart = _best(own, pairs, n)
    k = int(label.max()) + 1
    rng = np.random.default_rng(found.options.seed)
    same = []
    for _ in range(_RESAMPLED):
        weights = np.bincount(rng.integers(0, items, items), minlength=items).astype(np.float64)
        shared = count @ weights
        if shared.min() <= 0:
            continue
        same.append(_rand(label, _cut(total @ weights / shared, pairs, n, k)))
    stability = float(np.mean(same)) if same else 0.0
    together = label[pairs[:, 0]] == label[pairs[:, 1]]
    groups = tuple(tuple(table.raters[i] for i in np.flatnonzero(label == number).tolist()) for number in range(k))
    within = float(own[together].mean()) if together.any() else 1.0
    between = float(own[~together].mean()) if (~together).any() else within
    return RaterGroups(groups, within, between, stability, k > 1 and stability >= _STABLE and apart >= _APART)


def _best(own: Floats, pairs: Ints, n: int) -> tuple[Ints, float]:
    """The number of groups whose raters agree most beyond the other groups, relative to the spread of all; groups of one count for nothing."""
    found: list[tuple[float, Ints]] = []
    for k in range(2, min(_MOST_GROUPS, n - 1) + 1):
        label = _cut(own, pairs, n, k)
        found.append((_silhouette(own, pairs, label), label))
    value, label = max(found, key=lambda pair: pair[0])
    return label, value


def _cut(own: Floats, pairs: Ints, n: int, k: int) -> Ints:
    """Labels of k groups, numbered by their first rater."""
    from scipy.cluster.hierarchy import fcluster, linkage

    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    label = fcluster(linkage(1 - own[order], "average"), k, "maxclust")
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


def _silhouette(own: Floats, pairs: Ints, label: Ints) -> float:
    """Mean silhouette of the raters (Rousseeuw 1987) with 1 - agreement as distance; 0 for a rater alone."""
    n = len(label)
    if label.max() == 0:  # all raters are equally far from each other
        return 0.0
    far = np.zeros((n, n))
    far[pairs[:, 0], pairs[:, 1]] = far[pairs[:, 1], pairs[:, 0]] = 1 - own
    values = []
    for i in range(n):
        mine = (label == label[i]) & (np.arange(n) != i)
        if not mine.any():
            values.append(0.0)
            continue
        a = float(far[i, mine].mean())
        b = min(float(far[i, label == other].mean()) for other in np.unique(label) if other != label[i])
        values.append((b - a) / max(a, b, 1e-12))
    return float(np.mean(values))


def _rand(a: Ints, b: Ints) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    i, j = np.triu_indices(len(a), 1)
    one, two = a[i] == a[j], b[i] == b[j]
    both, first, second, n = (one & two).sum(), one.sum(), two.sum(), len(i)
    chance = first * second / n
    most = (first + second) / 2
    return 1.0 if most == chance else float((both - chance) / (most - chance))


def _groups_told(found: RaterGroups) -> Sequence[str]:
    if not found.found:
        return [f"No groups of raters: the best division is not stable or not apart (stability {found.stability:.2f})."]
    names = "; ".join(", ".join(map(printable, group)) for group in found.groups)
    return [
        f"Groups of raters who agree among themselves: {names}.",
        f"Mean equivalence within groups {found.within:.2f}, between groups {found.between:.2f}, stability {found.stability:.2f}.",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _between(found: Coefficient) -> str:
    return "" if found.ci95 is None else f"{found.ci95[0]:.3f} to {found.ci95[1]:.3f}"
