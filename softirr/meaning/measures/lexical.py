"""Measures on the letters and words of the texts.

Exact, Jaccard, MASI, Levenshtein, Indel, LCS (Wullschleger et al. 2026).

They need no model and score blocks at tens of millions of pairs per second. The edit distances are RapidFuzz's, counted
in Unicode characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Floats, Ints
from softirr.meaning.measures.protocols import IndexedMeasure, Measure, TextIndex
from softirr.provenance import Provenance

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SCORERS: dict[str, Any] = {
    "levenshtein": Levenshtein.normalized_similarity,  # 1 - Lev / max(|a|, |b|)
    "indel": Indel.normalized_similarity,  # 1 - Indel / (|a| + |b|)
    "lcs": LCSseq.normalized_similarity,  # |LCS| / max(|a|, |b|)
}

LONGEST = 20_000
"""Maximum number of characters of a text for an edit distance: its time grows with the product of two lengths.

Longer texts are cut, and counted in the provenance as ``truncated_texts``.
"""
_CELLS_AT_ONCE = 4_000_000_000
"""Pairs of characters compared in one call of RapidFuzz, some tenths of a second.

Between calls the user can interrupt.
"""


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """Make the lexical measure of a name.

    Parameters
    ----------
    name : str
        One of ``exact``, ``jaccard``, ``masi``, ``levenshtein``, ``indel``, ``lcs``.
    model : str, optional
        None: these measures have no model.
    **options
        ``workers`` (threads; all processors by default) for the edit distances; ``casefold`` (True by default) for
        Jaccard and MASI.

    Raises
    ------
    InputError
        If an option is not known.
    """
    kind: Any = {"exact": Exact, "jaccard": TokenOverlap, "masi": TokenOverlap}.get(name, EditDistance)
    try:
        return kind(name, **options)
    except TypeError as error:
        raise InputError(f"The measure {name} does not take these options: {', '.join(sorted(options))}.") from error


class EditDistance(IndexedMeasure):
    """Levenshtein, Indel or LCS equivalence (Wullschleger et al. 2026). Two empty texts are equivalent (1).

    Texts are compared by their first ``LONGEST`` characters.

    Parameters
    ----------
    name : str
        ``levenshtein``, ``indel`` or ``lcs``.
    workers : int
        Number of threads; -1 for all processors.
    """

    def __init__(self, name: str, workers: int = -1) -> None:
        super().__init__(name)
        self._workers = workers
        self._cut: set[int] = set()

    def index(self, texts: Sequence[str]) -> TextIndex:
        """The first characters of the texts."""
        self._cut.update(hash(text) for text in texts if len(text) > LONGEST)
        return _ShortenedTexts([text[:LONGEST] for text in texts], _SCORERS[self.raw_name], self._workers)

    def describe(self) -> Provenance:
        """The measure's name, and how many texts were cut so far."""
        return Provenance(measure=self.raw_name, truncated_texts=len(self._cut))


class _ShortenedTexts(TextIndex):
    def __init__(self, texts: Sequence[str], scorer: Any, workers: int) -> None:
        self._texts = np.array([*texts, None], dtype=object)[:-1]
        self._scorer, self._workers = scorer, workers

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        a, b = self._texts[left_texts].tolist(), self._texts[right_texts].tolist()
        result = np.empty(len(a), dtype=np.float64)
        for batch in _parts([len(first) * len(second) for first, second in zip(a, b, strict=True)]):
            result[batch] = process.cpdist(
                a[batch], b[batch], scorer=self._scorer, dtype=np.float64, workers=self._workers
            )
        return result

    def block(self, rows: Ints, columns: Ints) -> NDArray[np.float32]:
        a, b = self._texts[rows].tolist(), self._texts[columns].tolist()
        width = sum(map(len, b)) + len(b)
        blocks = [
            process.cdist(a[batch], b, scorer=self._scorer, dtype=np.float32, workers=self._workers)
            for batch in _parts([len(text) * width for text in a])
        ]
        return blocks[0] if len(blocks) == 1 else np.concatenate([np.zeros((0, len(b)), np.float32), *blocks])


def _parts(costs: Sequence[int]) -> Iterator[slice]:
    """Parts that cost at most ``_CELLS_AT_ONCE`` each or have one entry."""
    start, total = 0, 0
    for index, cost in enumerate(costs):
        if index > start and total + cost > _CELLS_AT_ONCE:
            yield slice(start, index)
            start, total = index, 0
        total += cost
    if len(costs):
        yield slice(start, len(costs))


class Exact(IndexedMeasure):
    """1 if the normalized texts are the same, else 0 (exact match in Wullschleger et al. 2026)."""

    def __init__(self, name: str = "exact") -> None:
        super().__init__(name)

    def index(self, texts: Sequence[str]) -> TextIndex:
        """The texts' own numbers, because the texts are different."""
        return _ExactIndex()


class _ExactIndex(TextIndex):
    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        return (left_texts == right_texts).astype(np.float64)


class _Separators(dict[int, int | None]):
    """Translation table, filled on demand, that replaces characters between words by spaces."""

    def __missing__(self, code: int) -> int | None:
        # letters, marks (vowel signs, accents), numbers and symbols (+, <, °) form words; other characters separate
        # them
        self[code] = code if unicodedata.category(chr(code))[0] in "LMNS" else 32
        return self[code]


_SEPARATORS = _Separators()


def tokens(text: str, *, casefold: bool = True) -> frozenset[str]:
    """The set of a text's words: runs of letters, marks, digits and symbols, case-folded by default.

    White space and punctuation separate words. A text that is all punctuation is the set of its white-space parts, so
    that ``?`` and ``!`` differ and only the empty text has no words. In scripts without spaces each run of letters is
    one word.

    Parameters
    ----------
    text : str
        Normalized.
    """
    if casefold:
        text = text.casefold()
    return frozenset(text.translate(_SEPARATORS).split()) or frozenset(text.split())


class TokenOverlap(IndexedMeasure):
    """Jaccard or MASI equivalence of the two word sets (Wullschleger et al. 2026).

    Words as in :func:`tokens`, case-folded by default. Two empty texts are equivalent (1), an empty one and another are
    not (0).
    """

    def __init__(self, name: str, casefold: bool = True) -> None:
        super().__init__(name)
        self._casefold = casefold

    def index(self, texts: Sequence[str]) -> TextIndex:
        """The texts' words as a sparse incidence matrix, so that a block is one sparse product."""
        words = sparse_table(dict.fromkeys(tokens(text, casefold=self._casefold), 1.0) for text in texts)
        return _TokenIndex(words, np.diff(words.indptr).astype(np.int64), masi=self.raw_name == "masi")


def sparse_table(rows: Iterable[Mapping[Any, float]]) -> csr_matrix:
    """Rows of values by key as a sparse matrix with a column for each key."""
    from scipy import sparse

    numbers: dict[Any, int] = {}
    starts, columns, values = [0], list[int](), list[float]()
    for row in rows:
        columns.extend(numbers.setdefault(key, len(numbers)) for key in row)
        values.extend(row.values())
        starts.append(len(columns))
    shape = len(starts) - 1, max(len(numbers), 1)
    table = sparse.csr_matrix((np.array(values, dtype=np.float64), np.array(columns, dtype=np.int64), starts), shape)
    table.sort_indices()
    return table


def shared(table: csr_matrix, left_texts: Ints, right_texts: Ints) -> Floats:
    """Products of the rows of pairs of texts; of every left with every right one if their numbers are broadcast."""
    if left_texts.ndim == 2:
        return np.asarray((table[left_texts[:, 0]] @ table[right_texts[0]].T).toarray())
    return np.asarray(table[left_texts].multiply(table[right_texts]).sum(axis=1)).ravel()


@dataclass(frozen=True, eq=False)
class _TokenIndex(TextIndex):
    """Word incidence (n texts, n words), sizes (n,)."""

    words: csr_matrix
    sizes: NDArray[np.int64]
    masi: bool

    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        n_shared = shared(self.words, left_texts, right_texts)
        return self._equivalence(n_shared, self.sizes[left_texts], self.sizes[right_texts])

    def block(self, rows: Ints, columns: Ints) -> NDArray[np.float32]:
        n_shared = (self.words[rows] @ self.words[columns].T).tocoo()
        result = np.zeros(n_shared.shape, dtype=np.float32)
        result[n_shared.row, n_shared.col] = self._equivalence(
            n_shared.data, self.sizes[rows][n_shared.row], self.sizes[columns][n_shared.col]
        )
        empty_rows, empty_columns = np.flatnonzero(self.sizes[rows] == 0), np.flatnonzero(self.sizes[columns] == 0)
        result[np.ix_(empty_rows, empty_columns)] = 1.0
        return result

    def _equivalence(
        self, shared: NDArray[np.float64], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        union = left_texts + right_texts - shared
        jaccard = np.divide(shared, union, out=np.ones_like(shared), where=union > 0)
        if not self.masi:
            return jaccard
        # thirds as whole numbers, so that no rounded constant enters: M = 3/3 equal, 2/3 subset, 1/3 overlap
        subset = shared == np.minimum(left_texts, right_texts)
        thirds = np.where(shared == union, 3.0, np.where(subset, 2.0, 1.0))
        return np.where(shared == union, 1.0, thirds * shared / (3.0 * np.maximum(union, 1)))
