"""Coded segments of documents: the passages that several coders marked become items, and the names of their codes are the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from softirr.answers.gathered import Gathered, Request, Tables, gathered_tables
from softirr.answers.layout import listed, shown
from softirr.errors import InputError
from softirr.plural import plural

__all__ = [
    "ITEM_NOTE",
    "Segment",
    "check_coders",
    "numbered",
    "one_coder",
    "own_coders",
    "same_names",
    "segment_tables",
]

ITEM_NOTE = "An item is a passage"
"""Beginning of the note that says which passages are one item."""
_MOST_OVERLAPS = 5_000_000
"""Pairs of overlapping segments of two coders: they take some 10 s."""


@dataclass(frozen=True)
class Segment:
    """A passage of a document to which a coder gave a code.

    Attributes
    ----------
    document, coder, code : str
        The coder is empty where the input names none.
    start, end : int
        Places of its first character and behind its last one.

    Raises
    ------
    InputError
        If a place is no number, as in a damaged file.
    """

    document: str
    coder: str
    code: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not isinstance(self.start, int) or not isinstance(self.end, int):
            raise InputError(f"A coded passage of {shown(self.document)!r} has no start and end in characters.")


@dataclass(frozen=True)
class _Passage:
    """A passage that one coder marked, with all codes of it."""

    document: str
    coder: str
    start: int
    end: int
    codes: tuple[str, ...]

    def share(self, other: _Passage) -> float:
        """Characters that two passages have in common, as a share of the characters of either."""
        common = min(self.end, other.end) - max(self.start, other.start)
        return max(common, 0) / max(max(self.end, other.end) - min(self.start, other.start), 1)


def one_coder(name: str, what: str) -> str:
    """The sentence about an input with the codes of one coder.

    Parameters
    ----------
    name : str
        Of the input.
    what : str
        Of the files that are needed.

    Returns
    -------
    str
    """
    return (
        f"{name} has the codes of one coder: give a folder or ZIP archive with {what} for each coder, named after the "
        "coder."
    )


def check_coders(segments: Iterable[Segment], name: str, what: str) -> None:
    """Refuse the codes of a project in which fewer than two coders worked.

    Parameters
    ----------
    segments : iterable of Segment
    name : str
        Of the input.
    what : str
        Of the files that are needed.

    Raises
    ------
    InputError
        If the codes name one coder, or none.
    """
    coders = {one.coder for one in segments}
    if coders == {""}:
        raise InputError(
            f"{name} does not name the coders: give a folder or ZIP archive with {what} for each coder, named after "
            "the coder."
        )
    if coders and len(coders - {""}) == 1:
        raise InputError(one_coder(name, what))


def own_coders(projects: Mapping[str, Iterable[Segment]]) -> tuple[list[Segment], list[str]]:
    """The passages of a project for each coder, and a note where a project has codes of several people.

    Parameters
    ----------
    projects : mapping of str to iterable of Segment
        By coder.

    Returns
    -------
    tuple of (list of Segment, list of str)
    """
    segments, notes = list[Segment](), list[str]()
    for coder, own in projects.items():
        given = list(own)
        segments += [replace(one, coder=coder) for one in given]
        if len(names := sorted({one.coder for one in given} - {""})) > 1:
            notes.append(f"The project {coder} has codes of {listed(names)}: all of them count as codes of {coder}.")
    return segments, notes


def numbered(names: Iterable[tuple[Hashable, str]]) -> dict[Hashable, str]:
    """Names by key, in which several of one name are numbered: two documents may have one name.

    Parameters
    ----------
    names : iterable of (key, str)

    Returns
    -------
    dict of key to str

    Examples
    --------
    >>> numbered([(1, "interview"), (2, "memo"), (3, "interview")])
    {1: 'interview', 2: 'memo', 3: 'interview (2)'}
    """
    given = list(names)
    known, own = {name for _, name in given}, dict[Hashable, str]()
    taken = set[str]()
    for key, name in given:
        if name in taken:
            more = (f"{name} ({n})" for n in range(2, len(given) + 3))
            name = next(one for one in more if one not in known and one not in taken)
        taken.add(name)
        own[key] = name
    return own


def same_names(projects: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """A note where documents of a project have one name, if there are other projects.

    :func:`numbered` distinguishes them, but another coder's project may have them in another order.

    Parameters
    ----------
    projects : iterable of iterable of str
        Names of the documents in the project of each coder.

    Returns
    -------
    tuple of str
        No or one sentence.

    Examples
    --------
    >>> len(same_names([["interview", "memo"], ["interview", "interview"]]))
    1
    """
    counts = [Counter(names) for names in projects]
    several = dict.fromkeys(name for names in counts for name, n in names.items() if n > 1)
    if not several or len(counts) < 2:
        return ()
    return (
        f"Several documents of a project have one name ({listed(tuple(several))}): documents of two coders are "
        "matched in the order of their projects. Give each document its own name.",
    )


def segment_tables(
    segments: Iterable[Segment],
    request: Request,
    format: str,
    definitions: Mapping[str, str] | None = None,
    *,
    notes: Iterable[str] = (),
) -> Tables:
    """The table of the codes.

    A passage of one coder is matched with at most one passage of each other coder, of the same document and with the
    largest overlap first, if they have at least the share ``overlap`` of their characters in common.

    Parameters
    ----------
    segments : iterable of Segment
    request : Request
    format : str
    definitions : mapping of str to str, optional
        What codes mean.
    notes : iterable of str
        What the reader left out.

    Returns
    -------
    dict of str to AnnotationTable

    Raises
    ------
    InputError
        If there are no segments, or too many that overlap.
    """
    own: dict[tuple[str, str, int, int], dict[str, None]] = {}
    n_nobody = 0
    for one in segments:
        if not one.coder:
            n_nobody += 1
            continue
        own.setdefault((one.document, one.coder, one.start, one.end), {})[one.code] = None
    passages = sorted((_Passage(*key, tuple(codes)) for key, codes in own.items()), key=_order)
    if not passages:
        raise InputError(f"{request.name} has no coded segments of text.")
    gathered = request.gathered(repeats="set")
    alone, taken = 0, set[str]()
    for _, group in groupby(passages, key=lambda one: one.document):
        for item in _items(list(group), request):
            alone += len(item) == 1
            _keep(gathered, item, taken)
    coders = {one.coder for one in passages}
    every_note = [
        f"{ITEM_NOTE}: passages of two coders are one item if they have {request.options.overlap:.0%} of their characters in "
        "common (--overlap). Agreement is about the codes of these passages, not about which passages are coded.",
        *notes,
    ]
    if n_nobody:
        every_note.append(f"{plural(n_nobody, 'code names no coder and is', 'codes name no coder and are')} left out.")
    if alone and len(coders) > 1:
        every_note.append(
            f"{plural(alone, 'passage was', 'passages were')} coded by one coder only and "
            f"{'is' if alone == 1 else 'are'} not compared."
        )
    return gathered_tables(
        request,
        format,
        {"code": gathered},
        n_rows=len(passages),
        notes=every_note,
        definitions=definitions,
        overlap=request.options.overlap,
    )


def _order(one: _Passage) -> tuple[str, int, int, str]:
    return one.document, one.start, one.end, one.coder


def _keep(gathered: Gathered, item: list[_Passage], taken: set[str]) -> None:
    start, end = min(one.start for one in item), max(one.end for one in item)
    name = f"{item[0].document} {start}-{end}"
    if name in taken:  # two passages of the same coders in one place
        name = next(f"{name} ({n})" for n in range(2, len(taken) + 3) if f"{name} ({n})" not in taken)
    taken.add(name)
    for one in item:
        gathered.add(name, one.coder, one.codes)


def _items(passages: list[_Passage], request: Request) -> Iterator[list[_Passage]]:
    """Passages of a document that are one item, in order; no two of a coder."""
    pairs = sorted(_overlaps(passages, request), key=lambda pair: (-pair[0], *pair[1:]))
    group = list(range(len(passages)))
    members = {number: [number] for number in group}
    for _, one, other in pairs:
        first, second = group[one], group[other]
        coders = {passages[i].coder for i in members[first]}
        if first == second or any(passages[i].coder in coders for i in members[second]):
            continue
        for i in members[second]:
            group[i] = first
        members[first] += members.pop(second)
    for numbers in sorted(sorted(own) for own in members.values()):
        yield [passages[i] for i in numbers]


def _overlaps(passages: list[_Passage], request: Request) -> Iterator[tuple[float, int, int]]:
    """Share and numbers of passages of two coders that overlap enough."""
    open_: list[int] = []
    n = 0
    for number, one in enumerate(passages):
        open_ = [i for i in open_ if passages[i].end > one.start]
        for i in open_:
            n += 1
            if n > _MOST_OVERLAPS:
                raise InputError(
                    f"{request.name} has more than {_MOST_OVERLAPS:,} overlapping segments in one document."
                )
            if passages[i].coder != one.coder and (share := passages[i].share(one)) >= request.options.overlap:
                yield share, i, number
        open_.append(number)
