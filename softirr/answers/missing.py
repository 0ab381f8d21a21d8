"""Missing answers that are written as a text, such as "NA" or "-": which they are, and the table without them.

One rule for all formats and for Label Studio: a text that is a mark as a whole is not an answer. Raters who write "NA"
do not agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from softirr.answers.table import AnnotationTable, Excluded
from softirr.errors import InputError
from softirr.errors import option as worded_option
from softirr.json_object import JsonObject, data_file
from softirr.numbers import plural
from softirr.text import normalize

AUTO = "auto"
"""The marks of the data file: those that leave no doubt are missing."""
KEEP = "none"
"""No text is a mark."""
_WRITTEN_AS = "missing, written as "
_WRITTEN_BESIDE = "one of several texts is missing, written as "
_MOST = 8
_folded = partial(normalize, casefold=True)
_LONGEST = 60
"""Maximum length of a mark."""


@dataclass(frozen=True)
class MissingMarks:
    """Which texts mean that an answer is missing.

    Attributes
    ----------
    missing : mapping of str to str
        Marks in normal form and folded case, each with its spelling for messages.
    doubtful : mapping of str to str
        Texts that may mean missing, too: they count as answers, with a warning.
    opposites : mapping of str to frozenset of str
        Texts, and the marks that are their opposite: "-" is an answer where "+" is one.
    option : str
        Choice of the user.
    """

    missing: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)
    opposites: Mapping[str, frozenset[str]] = field(default_factory=dict)
    option: str = KEEP

    @classmethod
    def of(cls, choice: str | Sequence[str] | None) -> MissingMarks:
        """The marks of an option.

        Parameters
        ----------
        choice : str or sequence of str, optional
            ``auto`` (as None), ``none``, or marks, as ``NA,-``; ``auto`` among several adds the usual ones.

        Raises
        ------
        InputError
            If it is not a text, or does not name a mark.

        Examples
        --------
        >>> [MissingMarks.of("auto").has(text) for text in ("n/a", "-", "fever", "none")]
        [True, True, False, False]
        >>> MissingMarks.of("auto,none").has("None")
        True
        """
        names: Any = (AUTO if choice is None else choice).split(",") if isinstance(choice, str | None) else choice
        if not isinstance(names, Sequence | set | frozenset) or not all(isinstance(name, str) for name in names):
            raise InputError("The option missing is auto, none, or a list of texts that mark a missing answer.")
        names = [AUTO if name.casefold() == AUTO else name for name in map(normalize, names) if name]
        if not names:
            raise InputError("The option missing names no text: it is auto, none, or texts as NA,n/a.")
        if isinstance(choice, str) and [name.casefold() for name in names] == [KEEP]:
            return cls()
        usual, doubtful, opposites = _usual()
        marks = {_folded(name): name for name in names if name != AUTO}
        adds_usual = AUTO in names
        missing = {**usual, **marks} if adds_usual else marks
        unlisted = {mark: name for mark, name in (doubtful if adds_usual else usual).items() if mark not in missing}
        opposites = {text: answers - marks.keys() for text, answers in opposites.items()} if adds_usual else {}
        return cls(missing, unlisted, opposites, ",".join(names))

    def has(self, text: str) -> bool:
        """Whether a text is one of the marks."""
        return _mark(text, self.missing) is not None

    def opposites_in(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the texts that have marks as opposites, such as "+"."""
        if not self.opposites:
            return frozenset()
        return frozenset(_folded(text) for text in texts if len(text) < _LONGEST).intersection(self.opposites)

    def beside(self, texts: Iterable[str]) -> MissingMarks:
        """The marks in a table of these texts: the opposite of a text that is an answer is an answer, too."""
        answers = {mark for text in self.opposites_in(texts) for mark in self.opposites[text]}
        if not answers:
            return self
        spared = {mark: name for mark, name in self.missing.items() if mark in answers}
        missing = {mark: name for mark, name in self.missing.items() if mark not in answers}
        return replace(self, missing=missing, doubtful={**self.doubtful, **spared}, opposites={})

    def left_out(self, item: str, rater: str, texts: Sequence[str]) -> tuple[tuple[str, ...] | None, list[Excluded]]:
        """Return an answer without its marks (None if nothing remains), and the marks as excluded answers."""
        marks = [mark for text in texts if (mark := _mark(text, self.missing)) is not None]
        if not marks:
            return tuple(texts), []
        answers = tuple(text for text in texts if not self.has(text))
        is_missing = not any(map(normalize, answers))
        reason = _WRITTEN_AS if is_missing else _WRITTEN_BESIDE
        return None if is_missing else answers, [Excluded(item, rater, f"{reason}{marks[0]}")]


@dataclass(frozen=True)
class MarkCounts(JsonObject):
    """How often each rater wrote a mark for a missing answer.

    Attributes
    ----------
    missing, doubtful : mapping of str to mapping of str to int
        Rater -> mark -> number of answers that are missing, or lack a text, for it; and that may be missing, but count.
    option : str
        Choice of the user.
    """

    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    doubtful: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    option: str = AUTO

    @classmethod
    def of(cls, table: AnnotationTable, marks: MissingMarks) -> MarkCounts:
        """The marks that a table has left out, and the doubtful ones among its answers."""
        return cls(left_out_marks(table.excluded), _counted(table, marks.doubtful), marks.option)

    def notes(
        self, *, names: Mapping[str, str] | None = None, option: str | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Notes about the marks: a sentence that counts them by rater, and one about how to choose otherwise.

        Parameters
        ----------
        names : mapping of str to str, optional
            Names of raters by id.
        option : str, optional
            Option that chooses the marks, as people type it; by default each interface words it.
        """

        def chosen(*marks: str) -> str:
            return worded_option("missing", *marks) if option is None else f"{option} {','.join(marks)}"

        notes = []
        if self.missing:
            count = _count(
                self.missing, "text counts as a missing answer and is", "texts count as missing answers and are"
            )
            none, some = chosen("none"), chosen("NA", "n/a")
            fix = f"If they are answers, say {none}, or name the texts that mean missing, as in {some}."
            notes.append((f"{count} not compared: {_by_rater(self.missing, names)}.", fix))
        if self.doubtful:
            marks = dict.fromkeys(mark for of in self.doubtful.values() for mark in of)
            by_rater = _by_rater(self.doubtful, names)
            count = _count(self.doubtful, "text counts as an answer", "texts count as answers")
            what = f"{count} but may mean that an answer is missing: {by_rater}."
            notes.append((what, f"If they do, say {chosen(self.option, *marks)}."))
        return tuple(notes)

    def sentences(self, *, names: Mapping[str, str] | None = None, option: str | None = None) -> tuple[str, ...]:
        """The notes as warnings; parameters as for :meth:`notes`."""
        return tuple(f"{what} {fix}" for what, fix in self.notes(names=names, option=option))


def left_out_marks(excluded: Iterable[Excluded]) -> dict[str, dict[str, int]]:
    """Count the marks that each rater wrote, from the answers that a table leaves out.

    Returns
    -------
    dict of str to dict of str to int
        Rater -> mark -> number of answers.

    Examples
    --------
    >>> left_out_marks([Excluded("1", "ann", "missing, written as NA"), Excluded("2", "ann", "skipped")])
    {'ann': {'NA': 1}}
    """
    return _by_rater_and_mark(
        (left_out.rater, left_out.reason.removeprefix(start))
        for left_out in excluded
        for start in (_WRITTEN_AS, _WRITTEN_BESIDE)
        if left_out.reason.startswith(start)
    )


def unchecked_in_words(table: AnnotationTable) -> Iterator[str]:
    """A warning of marks for missing in a table that no reader has checked for them."""
    if table.marks is None and (counts := _counted(table, _usual()[0])):
        singular = "text counts as an answer but looks like a mark for a missing answer"
        plural_words = "texts count as answers but look like marks for missing answers"
        yield f"{_count(counts, singular, plural_words)}: {_by_rater(counts)}. Leave missing answers out of the table."


def _counted(table: AnnotationTable, marks: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Rater -> mark -> how many answers hold it."""
    flagged = {n: mark for n, text in enumerate(table.texts) if (mark := _mark(text, marks)) is not None}
    rows = zip(table.rater.tolist(), table.answer.tolist(), strict=True) if flagged else ()
    return _by_rater_and_mark(
        (table.raters[r], flagged[text]) for r, answer in rows for text in table.answers[answer] if text in flagged
    )


def _by_rater_and_mark(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Rater -> mark -> number of pairs, the most frequent marks first."""
    by_rater: dict[str, Counter[str]] = {}
    for rater, mark in pairs:
        by_rater.setdefault(rater, Counter())[mark] += 1
    return {rater: dict(counts.most_common()) for rater, counts in by_rater.items()}


def _count(counts: Mapping[str, Mapping[str, int]], singular: str, plural_words: str) -> str:
    """The number of texts, before words that agree with it."""
    return plural(sum(sum(of.values()) for of in counts.values()), singular, plural_words)


def _by_rater(counts: Mapping[str, Mapping[str, int]], names: Mapping[str, str] | None = None) -> str:
    """Such as: ann 3 (NA, -), bob 1 (NA); those with most first."""
    rows = sorted(counts.items(), key=lambda row: -sum(row[1].values()))
    called = {rater: (names or {}).get(rater, rater) or "no rater" for rater in counts}
    counted_raters = [f"{called[rater]} {sum(of.values()):,} ({', '.join(list(of)[:4])})" for rater, of in rows[:_MOST]]
    return ", ".join(counted_raters) + (f" and {len(rows) - _MOST:,} more" if len(rows) > _MOST else "")


def _mark(text: str, marks: Mapping[str, str]) -> str | None:
    return marks.get(_folded(text)) if len(text) < _LONGEST else None


@cache
def _usual() -> tuple[dict[str, str], dict[str, str], dict[str, frozenset[str]]]:
    """The marks of the data file."""
    listed = data_file("softirr.answers", "missing_marks")
    missing = {_folded(name): name for name in listed["missing"]}
    doubtful = {_folded(name): name for name in listed["doubtful"]}
    opposites = {text: frozenset(map(_folded, marks)) for text, marks in listed["opposites"].items()}
    return missing, doubtful, opposites
