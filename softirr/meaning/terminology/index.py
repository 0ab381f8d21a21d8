"""An index of a terminology's names: one file that processes share.

It contains everything that scoring needs, with the keys of :mod:`softirr.meaning.terminology.name_keys`, so the publisher's
file is read once. A file that is damaged or older than its source is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Terminology
from softirr.meaning.terminology.folded_words import Folder
from softirr.meaning.terminology.hashes import cut_hashes
from softirr.meaning.terminology.index_file import KEYS, VERSION, read_index, write_index
from softirr.meaning.terminology.load import load, named_path
from softirr.meaning.terminology.name_keys import exact_keys, keys_of, pair_hashes

__all__ = ["TerminologyIndex", "build_index", "open_index"]

_AT_ONCE = 50_000
SHORTEST_TYPO = 5
"""Letters of the shortest word in which a misspelling is looked for."""
SHORTEST_MISTYPED = 8
"""Letters of the shortest text in which it is.

A short text that is one slip away from a name is often another word (lover, liver).
"""


class TerminologyIndex:
    """An opened index.

    Concepts and names are numbered from 0; the names of a concept are consecutive, the preferred one first.

    Attributes
    ----------
    name : str
        Name of the terminology.
    sha256 : str
        Hash of the publisher's file.
    notes : tuple of str
        Content that was skipped on reading, and why.
    arrays : mapping of str to array
        ``exact_hash`` and the like, sorted, with the name that each belongs to.
    """

    def __init__(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.name = str(header["name"])
        self.sha256 = str(header["sha256"])
        self.notes = tuple(map(str, header["notes"]))
        self.arrays = arrays
        self._ancestors: dict[int, frozenset[int]] = {}

    @property
    def n_concepts(self) -> int:
        """Number of concepts."""
        return len(self.arrays["concept_name"]) - 1

    @property
    def n_names(self) -> int:
        """Number of names."""
        return len(self.arrays["name_concept"])

    def id(self, concept: int) -> str:
        """The publisher's identifier of a concept."""
        return self._text("id", concept)

    def names(self, concept: int, most: int | None = None) -> list[str]:
        """The names of a concept, the preferred one first, at most so many."""
        first, last = self.arrays["concept_name"][concept : concept + 2].tolist()
        return [self._text("name", i) for i in range(first, last if most is None else min(last, first + most))]

    def preferred(self, concept: int) -> str:
        """The preferred name of a concept."""
        return next(iter(self.names(concept, 1)), self.id(concept))

    def parents(self, concept: int) -> list[int]:
        """The parents of a concept."""
        first, last = self.arrays["parent_start"][concept : concept + 2].tolist()
        above: list[int] = self.arrays["parent"][first:last].tolist()
        return above

    def ancestors(self, concept: int) -> frozenset[int]:
        """Every concept above this one, at any distance."""
        if concept not in self._ancestors:
            above: set[int] = set()
            waiting = self.parents(concept)
            while waiting:
                one = waiting.pop()
                if one not in above:
                    above.add(one)
                    waiting += self.parents(one)
            self._ancestors[concept] = frozenset(above - {concept})
        return self._ancestors[concept]

    def concepts(self, key: str, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Concepts of texts by one of their keys.

        Parameters
        ----------
        key : str
            ``exact``, ``folded``, ``bag`` or ``joined``.
        hashes : shape (n,)

        Returns
        -------
        shape (m,), shape (m,)
            Place of a text in `hashes`, and a concept that it names; a text appears as often as it has concepts,
            ascending.
        """
        sorted_hashes = self.arrays[f"{key}_hash"]
        order = np.argsort(hashes)  # neighbors in the file are read one after the other
        ascending = hashes[order]
        first, count = np.empty((2, len(hashes)), dtype=np.int64)
        first[order] = start = np.searchsorted(sorted_hashes, ascending, side="left")
        count[order] = np.searchsorted(sorted_hashes, ascending, side="right") - start
        count[hashes == 0] = 0
        place = np.repeat(np.arange(len(hashes)), count)
        within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        name = self.arrays[f"{key}_name"][first[place] + within]
        concept = self.arrays["name_concept"][name].astype(np.int64)
        pairs = np.unique(place * (self.n_concepts + 1) + concept)
        return pairs // (self.n_concepts + 1), pairs % (self.n_concepts + 1)

    def knows_words(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether folded words stand in any name, by their hashes, shape (n,)."""
        return _stand_in(self.arrays["word_hash"], hashes)

    def has_phrase(self, text: str) -> bool:
        """Whether every word of a text, and every two neighboring words, are in some name."""
        folder = Folder()
        _, words = keys_of([text], folder)
        return len(words.flat) > 0 and bool(
            self.knows_words(folder.hashes_of(words.flat)).all()
            and _stand_in(self.arrays["pair_hash"], pair_hashes(words, folder)).all()
        )

    def words_near(self, words: Sequence[str]) -> list[list[str]]:
        """For each word the long words of names that become equal to it where each of the two loses a letter or none."""
        hashes, owner = cut_hashes(words)
        order = np.argsort(hashes)
        hashes, owner = hashes[order], owner[order]
        cuts = self.arrays["cut_hash"]
        first, last = np.searchsorted(cuts, hashes, side="left"), np.searchsorted(cuts, hashes, side="right")
        near: list[set[int]] = [set() for _ in words]
        for place in np.flatnonzero(last > first).tolist():
            near[owner[place]].update(self.arrays["cut_word"][first[place] : last[place]].tolist())
        return [[self._text("word", i) for i in sorted(own)] for own in near]

    def _text(self, what: str, number: int) -> str:
        first, last = self.arrays[f"{what}_start"][number : number + 2].tolist()
        return self.arrays[f"{what}_text"][first:last].tobytes().decode("utf-8")


def build_index(terminology: Terminology, *, sha256: str = "") -> TerminologyIndex:
    """Index a terminology in memory.

    Parameters
    ----------
    sha256 : str
        Hash of the file it was read from; by default the hash of its concepts, names and links.

    Raises
    ------
    InputError
        If a concept is its own ancestor.
    """
    content = repr((terminology.ids, terminology.names, terminology.parents))
    header, arrays = _contents(terminology, sha256 or hashlib.sha256(content.encode()).hexdigest())
    return TerminologyIndex(header, arrays)


def open_index(source: str, *, cache: str | os.PathLike[str] | None = None) -> TerminologyIndex:
    """The index of a terminology, from the cache if its file has not changed since it was made.

    Parameters
    ----------
    source : str
        As for :func:`softirr.meaning.terminology.load`.
    cache : path, optional
        Folder of index files; by default ``terminologies`` in the user's cache folder. Where it can't be written, the
        index stays in memory.

    Raises
    ------
    InputError
        If the terminology can't be read, or a concept is its own ancestor.
    """
    label, path = named_path(source)
    state = path.stat()
    identity = json.dumps([VERSION, label, str(path.resolve()), state.st_size, state.st_mtime_ns])
    folder = _cache_folder() if cache is None else Path(cache)
    file = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.index"
    contents = read_index(file)
    if contents is None:
        terminology = load(source)
        contents = _contents(terminology, _hash_of(path))
        del terminology
        if write_index(file, *contents):
            contents = read_index(file) or contents
    return TerminologyIndex(*contents)


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("softirr") / "terminologies"


def _hash_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _contents(terminology: Terminology, sha256: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of an index."""
    _refuse_cycles(terminology)
    owner = np.repeat(
        np.arange(len(terminology), dtype=np.uint32), np.fromiter(map(len, terminology.names), dtype=np.int64)
    )
    names = [name for own in terminology.names for name in own]
    arrays: dict[str, NDArray[Any]] = {
        "concept_name": _starts(map(len, terminology.names), np.uint32),
        "name_concept": owner,
        "parent_start": _starts(map(len, terminology.parents), np.uint32),
        "parent": np.fromiter((parent for own in terminology.parents for parent in own), dtype=np.uint32),
    }
    for what, texts in (("id", terminology.ids), ("name", names)):
        arrays |= _packed(what, texts)
    folder = Folder()
    parts: dict[str, list[NDArray[np.uint64]]] = {key: [] for key in KEYS}
    pairs: list[NDArray[np.uint64]] = []
    for start in range(0, len(names), _AT_ONCE):
        part = names[start : start + _AT_ONCE]
        keys, words = keys_of(part, folder)
        pairs.append(np.unique(pair_hashes(words, folder)))
        for key in KEYS:
            parts[key].append(exact_keys(part) if key == "exact" else getattr(keys, key))
    for key in KEYS:
        hashes = np.concatenate(parts.pop(key))
        order = np.argsort(hashes, kind="stable")
        order = order[np.searchsorted(hashes[order], 1) :]
        arrays[f"{key}_hash"], arrays[f"{key}_name"] = hashes[order], order.astype(np.uint32)
    arrays["pair_hash"] = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *pairs]))
    arrays |= _words(folder)
    header = {"name": terminology.name, "sha256": sha256, "notes": list(terminology.notes)}
    return header, arrays


def _words(folder: Folder) -> dict[str, NDArray[Any]]:
    """The vocabulary, and the long words by what is left of them without one letter."""
    long = [word for word in folder.vocabulary if is_long(word)]
    hashes, numbers = cut_hashes(long)
    order = np.argsort(hashes, kind="stable")
    return {
        "word_hash": np.unique(folder.hashes_of(np.arange(len(folder.vocabulary)))),
        **_packed("word", long),
        "cut_hash": hashes[order],
        "cut_word": numbers[order].astype(np.uint32),
    }


def _stand_in(ascending: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(hashes), dtype=bool)
    return np.asarray(ascending[np.minimum(np.searchsorted(ascending, hashes), len(ascending) - 1)] == hashes)


def is_long(word: str) -> bool:
    """Whether misspellings of a folded word are looked for."""
    return len(word) >= SHORTEST_TYPO and word.isascii() and word.isalpha()


def _starts(sizes: Any, kind: Any) -> NDArray[Any]:
    return np.concatenate([[0], np.cumsum(np.fromiter(sizes, dtype=np.int64))]).astype(kind)


def _packed(what: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8") for text in texts]
    return {
        f"{what}_start": _starts(map(len, encoded), np.uint64),
        f"{what}_text": np.frombuffer(b"".join(encoded), dtype=np.uint8),
    }


def _refuse_cycles(terminology: Terminology) -> None:
    """Stop at concepts that are their own ancestors."""
    try:
        TopologicalSorter(dict(enumerate(terminology.parents))).prepare()
    except CycleError as error:
        concept = terminology.ids[error.args[1][0]]
        raise InputError(f"The terminology {terminology.name} has a cycle: {concept} is its own ancestor.") from None
