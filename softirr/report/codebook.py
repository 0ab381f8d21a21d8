"""The codebook of a project: groups of equivalent answers with their names, how often and by whom they were given."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.files import answer_table
from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.kinds import check_kind
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption, cache_and_progress
from softirr.meaning.measures.suitability import misfit_sentences
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy, find_policy
from softirr.meaning.policy.splitting import split_table
from softirr.plural import plural
from softirr.report.codebook_entries import Codebook, Entry, Wording
from softirr.report.codebook_pairs import NEIGHBORS, Pairs, pairs_between, pairs_of_same_items, pairs_spelled_alike
from softirr.statistics.matching.grouping import equivalent_groups
from softirr.text import normalize

__all__ = ["Comparisons", "codebook", "compare_texts"]


_KEPT = 0.01
_SHORTENED = re.compile(r"\b(?:[A-Z]{2,4}|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{2,4})\b|\b[A-Za-z]{2,5}\.(?=\s+[a-z])")


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
        described = {
            (min(number[a], number[b]), max(number[a], number[b])): bool(same)
            for (a, b), same in (decided or {}).items()
            if a in number and b in number and a != b
        }
        weight = [wording.count for wording in self.wordings]
        groups, contradictions = equivalent_groups(
            len(self.wordings), self.left, self.right, self.p, weight=weight, decided=described, threshold=threshold
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
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "Fever"), ("2", "ann", "fever")]
    >>> rows += [("2", "bob", "dry cough"), ("3", "ann", "dry coughs")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> [[wording.text for wording in entry.wordings] for entry in softirr.codebook(table, "indel").entries]
    [['fever', 'Fever'], ['dry cough', 'dry coughs']]
    """
    if not 0 < threshold <= 1:
        raise InputError("The threshold of a codebook is above 0 and at most 1.")
    table = answer_table(table)
    compared = compare_texts(table, measure, policy=policy, neighbors=neighbors, cache=cache, progress=progress)
    described = {}
    for (a, b), same in (decided or {}).items():
        one, other = sorted((normalize(a, casefold=table.casefold), normalize(b, casefold=table.casefold)))
        described[one, other] = same
    return compared.codebook(described, threshold=threshold)


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
    base = measure_by_name(measure) if isinstance(measure, str) else measure
    check_kind(table, base)
    if policy is not None:
        chosen = policy if isinstance(policy, Policy) else find_policy(policy)
        table = table if table.split is not None else split_table(table, chosen.split)
        base = under_policy(base, chosen)
    texts, wordings = list(table.texts), _wordings(table)
    alike, notes = pairs_spelled_alike(texts, [wording.count for wording in wordings], neighbors)
    pairs = np.unique(np.concatenate([pairs_of_same_items(table), alike]), axis=0)
    with cache_and_progress(base, cache, progress) as (store, counted):
        misfits = misfit_sentences(base, texts, cache=store)
        scorer = PairScorer(base, texts, cache=store, progress=counted)
        p = scorer.score(pairs[:, 0], pairs[:, 1]) if len(pairs) else np.zeros(0)
        more, left_out = pairs_between(len(texts), pairs, p)
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
    return Comparisons(base.name, wordings, pairs[kept, 0], pairs[kept, 1], p[kept], len(pairs), tuple(notes), misfits)


def _wordings(table: AnnotationTable) -> tuple[Wording, ...]:
    """Each text of the table with its uses."""
    raters: list[Counter[str]] = [Counter() for _ in table.texts]
    places: list[dict[str, set[int]]] = [{} for _ in table.texts]
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        for text in table.answers[answer]:
            raters[text][table.raters[rater]] += 1
            places[text].setdefault(table.raters[rater], set()).add(item)
    defined: dict[str, str] = {}
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
