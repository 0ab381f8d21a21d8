"""The codebook of a project: groups of equivalent answers with their names, how often and by whom they were given."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.defaults import SCHEMA_VERSION, THRESHOLD
from softirr.errors import InputError
from softirr.matching.grouping import components, equivalent_groups
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.automatic import CacheOption, ProgressOption, cache_and_progress
from softirr.measures.kinds import check_kind
from softirr.measures.pairs import PairScorer
from softirr.measures.suitability import misfit_sentences
from softirr.plural import plural
from softirr.policy.attributes import LONGEST
from softirr.policy.measure import under_policy
from softirr.policy.rules import Policy, find_policy
from softirr.policy.splitting import split_table
from softirr.report.open_lists import FIGURES, Contribution, contributions
from softirr.report.text import printable, table_lines
from softirr.tables.cells import csv_text
from softirr.tables.files import answer_table
from softirr.tables.table import AnnotationTable
from softirr.text import normalize

__all__ = ["Codebook", "Comparisons", "Entry", "Wording", "codebook", "compare_texts"]

Pairs = NDArray[np.int64]

NEIGHBORS = 10
"""Texts that each text is compared with because they are spelled alike."""
ALIKE = 55.0
"""Lowest similarity of spelling, of 100, at which texts are compared at all."""
MOST_ALIKE = 20_000
"""Distinct texts, the most frequent ones, among which those spelled alike are looked for."""
MOST_BETWEEN = 20_000
"""Further pairs, between texts that other pairs link already."""
_COMPLETED = 60
"""Linked texts whose pairs are all compared."""
_CUTS = (THRESHOLD, 0.6, 0.7, 0.8, 0.9, 0.95)
_KEPT = 0.01
_BLOCK = 256
_SHORTENED = re.compile(r"\b(?:[A-Z]{2,4}|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{2,4})\b|\b[A-Za-z]{2,5}\.(?=\s+[a-z])")


@dataclass(frozen=True)
class Wording:
    """A text of the codebook.

    Attributes
    ----------
    text : str
    count : int
        Answers that hold it.
    items : int
        Items whose answers hold it.
    raters : dict of str to int
        Answers that hold it, by rater.
    definition : str
        What it means, where the input defines it.
    places : mapping of str to frozenset of int
        Numbers of the items in whose answers each rater gave it; empty where an earlier version stored it.
    """

    text: str
    count: int
    items: int
    raters: dict[str, int]
    definition: str = ""
    places: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of the codebook (docs/reference/json.md)."""
        defined = {"definition": self.definition} if self.definition else {}
        return {"text": self.text, "count": self.count, "items": self.items, "raters": dict(self.raters), **defined}


@dataclass(frozen=True)
class Entry:
    """A group of equivalent texts.

    Attributes
    ----------
    id : str
        Stays the same as long as the name does.
    name : str
        Its clearest text: the one with the fewest shortened words ("SOB", "wt gain"), of these the most frequent, then
        the most central, then the shortest.
    wordings : tuple of Wording
        Its texts, the name first, then the most frequent ones.
    """

    id: str
    name: str
    wordings: tuple[Wording, ...]

    @property
    def count(self) -> int:
        """Answers that hold one of its texts, counted for each text."""
        return sum(wording.count for wording in self.wordings)

    @property
    def raters(self) -> dict[str, int]:
        """The same by rater."""
        total: Counter[str] = Counter()
        for wording in self.wordings:
            total.update(wording.raters)
        return dict(sorted(total.items()))

    @property
    def places(self) -> dict[str, frozenset[int]]:
        """Numbers of the items in whose answers each rater gave one of its texts."""
        places: dict[str, frozenset[int]] = {}
        for wording in self.wordings:
            for rater, items in wording.places.items():
                places[rater] = places.get(rater, frozenset()) | items
        return places

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of the codebook (docs/reference/json.md)."""
        return {
            "id": self.id,
            "name": self.name,
            "count": self.count,
            "raters": self.raters,
            "wordings": [wording.to_dict() for wording in self.wordings],
        }


@dataclass(frozen=True)
class Codebook:
    """The codebook of a table of answers.

    Attributes
    ----------
    entries : tuple of Entry
        The most frequent first.
    measure : str
    threshold : float
        Mean equivalence of the texts of an entry, at least.
    texts : int
        Distinct texts.
    pairs_compared, pairs_possible : int
        Pairs of distinct texts that were compared, and that there are.
    contradictions : tuple of (str, str)
        Pairs decided to be the same that other decisions keep apart.
    notes : tuple of str
        What was left out.
    misfits : tuple of str
        Why the measure does not fit the texts. The entries are then not reliable, and the codebook is no terminology.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash"), ("3", "ann", "fever")]
    >>> codebook = softirr.codebook(softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows), "indel")
    >>> [(entry.name, entry.count) for entry in codebook.entries]
    [('fever', 3), ('cough', 1), ('rash', 1)]
    """

    entries: tuple[Entry, ...]
    measure: str
    threshold: float
    texts: int
    pairs_compared: int
    pairs_possible: int
    contradictions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each rater contributes to the entries."""
        return contributions([entry.places or tuple(entry.raters) for entry in self.entries])

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the codebook (docs/reference/json.md)."""
        return {
            "schema_version": SCHEMA_VERSION,
            "measure": self.measure,
            "threshold": self.threshold,
            "texts": self.texts,
            "pairs_compared": self.pairs_compared,
            "pairs_possible": self.pairs_possible,
            "entries": [entry.to_dict() for entry in self.entries],
            "contributions": [one.to_dict() for one in self.contributions],
            "contradictions": [list(pair) for pair in self.contradictions],
            "notes": list(self.notes),
            "misfits": list(self.misfits),
        }

    def to_tsv(self) -> str:
        """A terminology that ``--terminology`` reads: a row for each text, with its entry's id and name.

        Raises
        ------
        InputError
            If the measure does not fit the texts.
        """
        if self.misfits:
            raise InputError(
                f"The codebook is not a terminology yet. {self.misfits[0]} "
                "Choose a measure that fits, then create it again."
            )
        rows = (
            (entry.id, entry.name, wording.text, wording.count, ", ".join(sorted(wording.raters)))
            for entry in self.entries
            for wording in entry.wordings
        )
        return csv_text([("id", "name", "synonym", "count", "raters"), *rows], delimiter="\t")

    def __str__(self) -> str:
        lines = [
            f"{plural(len(self.entries), 'entry', 'entries')} of {plural(self.texts, 'distinct text')}, by "
            f"{self.measure} from {self.threshold:g} on; "
            f"{self.pairs_compared:,} of {plural(self.pairs_possible, 'pair')} of texts "
            f"{'was' if self.pairs_compared == 1 else 'were'} compared."
        ]
        for entry in self.entries:
            others = [wording.text for wording in entry.wordings[1:]]
            said = f" = {'; '.join(others[:6])}{' …' if len(others) > 6 else ''}" if others else ""
            used = plural(len(entry.raters), "rater")
            lines.append(f"{entry.count:>6}  {used:>9}  {entry.name}{said}")
            lines += [f"{'':>19}{one.text}: {printable(one.definition)}" for one in entry.wordings if one.definition]
        lines += _contribution_lines(self.contributions)
        return "\n".join([*(f"Warning: {misfit}" for misfit in self.misfits), *lines, *self.notes])


def _contribution_lines(raters: Sequence[Contribution]) -> list[str]:
    """A row for each of two raters or more."""
    if len(raters) < 2:
        return []
    head = ("rater", "entries", *(f"{figure}, 95% interval" for figure in FIGURES))
    rows = [
        (
            printable(one.rater),
            f"{one.entries:,}",
            *(_with_interval(getattr(one, name), ci95) for name, ci95 in zip(FIGURES, one.ci95, strict=True)),
        )
        for one in raters
    ]
    return ["", *table_lines(head, rows)]


def _with_interval(value: float | None, ci95: tuple[float, float] | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if ci95 is None else f"{value:.2f} ({ci95[0]:.2f} to {ci95[1]:.2f})"


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What a codebook is made of: the texts, and the equivalence of the pairs that were compared.

    Attributes
    ----------
    measure : str
    wordings : tuple of Wording
        The texts.
    left, right : ndarray, shape (m,)
        The pairs with an equivalence above 0.01, as indices into `wordings`.
    p : ndarray, shape (m,)
        Their equivalence.
    compared : int
        Pairs that were compared.
    notes : tuple of str
        What was left out.
    misfits : tuple of str
        Why the measure does not fit the texts.
    """

    measure: str
    wordings: tuple[Wording, ...]
    left: Pairs
    right: Pairs
    p: NDArray[np.float64]
    compared: int
    notes: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "measure": self.measure,
            "wordings": [one.to_dict() | {"places": _sorted_places(one)} for one in self.wordings],
            "pairs": [self.left.tolist(), self.right.tolist(), np.round(self.p, 4).tolist()],
            "compared": self.compared,
            "notes": list(self.notes),
            "misfits": list(self.misfits),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Comparisons:
        """What `to_dict` gave."""
        left, right, p = values["pairs"]
        return cls(
            values["measure"],
            tuple(
                Wording(**one | {"places": {rater: frozenset(items) for rater, items in one.get("places", {}).items()}})
                for one in values["wordings"]
            ),
            np.array(left, dtype=np.int64),
            np.array(right, dtype=np.int64),
            np.array(p, dtype=np.float64),
            values["compared"],
            tuple(values["notes"]),
            tuple(values.get("misfits", ())),
        )

    def codebook(
        self, decided: Mapping[tuple[str, str], bool] | None = None, *, threshold: float = THRESHOLD
    ) -> Codebook:
        """The codebook under these decisions.

        Parameters
        ----------
        decided : mapping, optional
            Whether two texts mean the same, by the sorted pair of normalized texts. Texts that nobody gave are left
            out.
        threshold : float
            Mean equivalence from which texts are one entry.
        """
        number = {wording.text: at for at, wording in enumerate(self.wordings)}
        told = {
            (min(number[a], number[b]), max(number[a], number[b])): bool(same)
            for (a, b), same in (decided or {}).items()
            if a in number and b in number and a != b
        }
        weight = [wording.count for wording in self.wordings]
        groups, contradictions = equivalent_groups(
            len(self.wordings), self.left, self.right, self.p, weight=weight, decided=told, threshold=threshold
        )
        group_of = np.zeros(len(number), dtype=np.int64)
        for at, group in enumerate(groups):
            group_of[group] = at
        within = group_of[self.left] == group_of[self.right]
        central: NDArray[np.float64] = np.zeros(len(number))
        central += np.bincount(self.left[within], self.p[within], len(number))
        central += np.bincount(self.right[within], self.p[within], len(number))
        entries = [self._entry(group, central) for group in groups]
        n = len(self.wordings)
        return Codebook(
            entries=tuple(sorted(entries, key=lambda entry: (-entry.count, entry.name))),
            measure=self.measure,
            threshold=threshold,
            texts=n,
            pairs_compared=self.compared,
            pairs_possible=n * (n - 1) // 2,
            contradictions=tuple((self.wordings[a].text, self.wordings[b].text) for a, b in contradictions),
            notes=self.notes,
            misfits=self.misfits,
        )

    def _entry(self, group: Sequence[int], central: NDArray[np.float64]) -> Entry:
        def by_frequency(at: int) -> tuple[Any, ...]:
            text = self.wordings[at].text
            return (-self.wordings[at].count, -round(float(central[at]), 6), len(text), text)

        ranked = [self.wordings[at] for at in sorted(group, key=by_frequency)]
        first = min(ranked, key=lambda one: shortened_words(one.text))
        wordings = (first, *(one for one in ranked if one is not first))
        return Entry(hashlib.sha256(first.text.encode()).hexdigest()[:8], first.text, wordings)


def _sorted_places(wording: Wording) -> dict[str, list[int]]:
    return {rater: sorted(items) for rater, items in wording.places.items()}


def shortened_words(text: str) -> int:
    """Number of words that look shortened: a few capitals, no vowel, or a period at the end.

    Parameters
    ----------
    text : str

    Returns
    -------
    int

    Examples
    --------
    >>> [shortened_words(text) for text in ("SOB", "wt gain", "abd. pain", "weight gain", "Rhythm by ECG")]
    [1, 1, 1, 0, 1]
    """
    return len(_SHORTENED.findall(text))


def codebook(
    table: AnnotationTable | Any,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    decided: Mapping[tuple[str, str], bool] | None = None,
    threshold: float = THRESHOLD,
    neighbors: int = NEIGHBORS,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Codebook:
    """Groups of equivalent texts over a whole table, with their names, how often and by whom they were given.

    Only candidate pairs are compared: texts of the same item by different raters, texts that are spelled alike, and
    texts that such pairs link. All other pairs count as different.

    Parameters
    ----------
    table : AnnotationTable or data frame
    measure : str or Measure
    policy : Policy or str, optional
        What counts as the same, as for :func:`softirr.agreement`.
    decided : mapping, optional
        Whether two texts mean the same, by the pair of texts. Texts decided to be the same are one entry, texts decided
        to differ never are.
    threshold : float
        Mean equivalence from which texts are one entry.
    neighbors : int
        Texts that each text is compared with because they are spelled alike.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    Codebook

    Raises
    ------
    InputError
        If the threshold or the number of neighbors can't be used.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "Fever"), ("2", "ann", "fever"), ("2", "bob", "dry cough"), ("3", "ann", "dry coughs")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> [[wording.text for wording in entry.wordings] for entry in softirr.codebook(table, "indel").entries]
    [['fever', 'Fever'], ['dry cough', 'dry coughs']]
    """
    if not 0 < threshold <= 1:
        raise InputError("The threshold of a codebook is above 0 and at most 1.")
    table = answer_table(table)
    found = compare_texts(table, measure, policy=policy, neighbors=neighbors, cache=cache, progress=progress)
    told = {}
    for (a, b), same in (decided or {}).items():
        one, other = sorted((normalize(a, casefold=table.casefold), normalize(b, casefold=table.casefold)))
        told[one, other] = same
    return found.codebook(told, threshold=threshold)


def compare_texts(
    table: AnnotationTable,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    neighbors: int = NEIGHBORS,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparisons:
    """Compare the candidate pairs of a table's texts: what a codebook is made of.

    Parameters
    ----------
    table, measure, policy, neighbors, cache, progress
        As for :func:`codebook`.

    Returns
    -------
    Comparisons

    Raises
    ------
    InputError
        If the number of neighbors can't be used.
    """
    if neighbors < 0:
        raise InputError("The number of neighbors is 0 or more.")
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    check_kind(table, made)
    if policy is not None:
        found = policy if isinstance(policy, Policy) else find_policy(policy)
        table = table if table.split is not None else split_table(table, found.split)
        made = under_policy(made, found)
    texts, wordings = list(table.texts), _wordings(table)
    alike, notes = _spelled_alike(texts, [wording.count for wording in wordings], neighbors)
    pairs = np.unique(np.concatenate([_of_same_items(table), alike]), axis=0)
    with cache_and_progress(made, cache, progress) as (store, told):
        misfits = misfit_sentences(made, texts, cache=store)
        scorer = PairScorer(made, texts, cache=store, progress=told)
        p = scorer.score(pairs[:, 0], pairs[:, 1]) if len(pairs) else np.zeros(0)
        more, left_out = _between(len(texts), pairs, p)
        if len(more):
            p = np.concatenate([p, scorer.score(more[:, 0], more[:, 1])])
            pairs = np.concatenate([pairs, more])
    if left_out:
        notes.append(
            f"{plural(left_out, 'pair')} of texts that other pairs link {'was' if left_out == 1 else 'were'} not "
            "compared and "
            f"{'counts' if left_out == 1 else 'count'} as different, so an entry may be split."
        )
    kept = p > _KEPT
    return Comparisons(made.name, wordings, pairs[kept, 0], pairs[kept, 1], p[kept], len(pairs), tuple(notes), misfits)


def _wordings(table: AnnotationTable) -> tuple[Wording, ...]:
    """Each text of the table with its uses."""
    raters: list[Counter[str]] = [Counter() for _ in table.texts]
    places: list[dict[str, set[int]]] = [{} for _ in table.texts]
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        for text in table.answers[answer]:
            raters[text][table.raters[rater]] += 1
            places[text].setdefault(table.raters[rater], set()).add(item)
    defined = table.reading.definitions if table.reading else {}
    return tuple(
        Wording(
            text,
            sum(used.values()),
            len(set().union(*own.values())),
            dict(used),
            defined.get(text, ""),
            {rater: frozenset(items) for rater, items in own.items()},
        )
        for text, used, own in zip(table.texts, raters, places, strict=True)
    )


def _of_same_items(table: AnnotationTable) -> Pairs:
    """Pairs of texts that two raters gave to one item, the smaller number first."""
    found: set[tuple[int, int]] = set()
    given: dict[int, list[tuple[int, ...]]] = {}
    for item, answer in zip(table.item.tolist(), table.answer.tolist(), strict=True):
        given.setdefault(item, []).append(table.answers[answer])
    for answers in given.values():
        for at, one in enumerate(answers):
            for other in answers[:at]:
                found |= {(min(a, b), max(a, b)) for a in one for b in other if a != b}
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _spelled_alike(texts: Sequence[str], counts: Sequence[int], neighbors: int) -> tuple[Pairs, list[str]]:
    """Pairs of each text with those spelled most alike, the smaller number first, and what was left out."""
    order = sorted(range(len(texts)), key=lambda at: (-counts[at], texts[at]))
    used = np.array(sorted(order[:MOST_ALIKE]), dtype=np.int64)
    notes = []
    if len(texts) > len(used):
        notes.append(
            f"Texts spelled alike were looked for among the {len(used):,} most frequent of {len(texts):,} texts only."
        )
    if neighbors == 0 or len(used) < 2:
        return np.zeros((0, 2), dtype=np.int64), notes
    parts = list(_blocks([texts[at][:LONGEST].casefold() for at in used.tolist()], neighbors))
    pairs = used[np.concatenate(parts)] if parts else np.zeros((0, 2), dtype=np.int64)
    return np.unique(np.sort(pairs, axis=1), axis=0), notes


def _blocks(texts: Sequence[str], neighbors: int) -> Iterator[Pairs]:
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import cdist

    for start in range(0, len(texts), _BLOCK):
        rows = texts[start : start + _BLOCK]
        scores = cdist(rows, texts, scorer=token_sort_ratio, score_cutoff=ALIKE, dtype=np.float32)
        scores[np.arange(len(rows)), start + np.arange(len(rows))] = 0.0
        few = min(neighbors, len(texts) - 1)
        nearest = np.argpartition(-scores, few, axis=1)[:, :few]
        row, place = np.nonzero(np.take_along_axis(scores, nearest, axis=1) > 0)
        yield np.stack([start + row, nearest[row, place]], axis=1)


def _between(n: int, pairs: Pairs, p: NDArray[np.float64]) -> tuple[Pairs, int]:
    """Pairs that were not compared between texts that equivalent pairs link, and how many of them are left out.

    Where very many texts are linked, those that only higher equivalences link are completed.
    """
    known = set(map(tuple, pairs.tolist()))
    wanted: list[tuple[int, int]] = []
    missing = 0
    todo = [(np.arange(n), 0)]
    while todo:
        members, step = todo.pop()
        place = np.full(n, -1)
        place[members] = np.arange(len(members))
        linked = pairs[(p >= _CUTS[step]) & (place[pairs[:, 0]] >= 0) & (place[pairs[:, 1]] >= 0)]
        label = components(len(members), place[linked[:, 0]], place[linked[:, 1]])
        order = np.argsort(label, kind="stable")
        for group in np.split(members[order], np.flatnonzero(np.diff(label[order])) + 1):
            if len(group) < 2:
                continue
            if step == 0:
                inside = np.zeros(n, dtype=bool)
                inside[group] = True
                compared = int((inside[pairs[:, 0]] & inside[pairs[:, 1]]).sum())
                missing += len(group) * (len(group) - 1) // 2 - compared
            if len(group) <= _COMPLETED:
                listed = sorted(group.tolist())
                wanted += [(a, b) for at, b in enumerate(listed) for a in listed[:at] if (a, b) not in known]
            elif step + 1 < len(_CUTS):
                todo.append((group, step + 1))
    kept = wanted[:MOST_BETWEEN]
    return np.array(kept, dtype=np.int64).reshape(-1, 2), missing - len(kept)
