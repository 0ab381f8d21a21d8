"""Which options would read a table whose columns have no known names.

Only where the columns and their values leave no doubt.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from softirr.answers.data_files import data_file
from softirr.answers.forms import form_of, is_person
from softirr.answers.layout import ROLES
from softirr.text import is_blank, normalize

__all__ = ["open_questions", "suggestion"]

_ASIDE = re.compile(
    r"(.*[_ .-])?(comments?|notes?|remarks?|duration|status|progress|finished|name|consent|age|sex|gender|language|userlanguage|startlanguage|lastpage|seed|"
    r"(created|modified) (by|on)|"
    r"distributionchannel|externalreference|lat|lon|id|uuid|url|link|path|file|filename|tags?|codes?|memo)([_ .-].*)?",
    re.IGNORECASE,
)
"""Names of columns that hold no answers in most tables."""
_RESPONDENT = re.compile(
    r"(user ?name|response ?id|respondent( ?id)?|participant( ?id)?|rater|annotator|token)", re.IGNORECASE
)
_PRIVATE_VALUE = re.compile(
    r"[^@\s]+@[^@\s]+|\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}|(?:\d{4}|\d{1,2})[-/.]\d{1,2}[-/.](?:\d{4}|\d{1,2})(?:[ T].*)?|"
    r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?",
    re.IGNORECASE,
)
"""Addresses of people and machines, and times: never an item or a rater."""
_CROWD = {"item": r"hitid$|input:", "rater": r"assignment:worker_id$", "text": r"answer\.|output:|.+:::text_box$"}
"""Columns of crowdsourcing platforms (Mechanical Turk, Toloka) and of Potato's tables by role, in lower case."""
_OF_TEXT = re.compile(r"([^\W\d_]+[ _.-]?(?:\d+|[A-Z]))[ _.:-]+(.+)")
"""A column with one of a rater's texts: Rater 1 Finding."""
_CODES_OF = re.compile(r"(codes?|coding|label)[ _.-]\w+")
"""A column with the codes of one rater: Code_AB."""
_SIMILAR = 0.5
"""Share of the words that two raters' answers to an item have in common, somewhere in the table."""


def suggestion(columns: Sequence[str], rows: Sequence[Sequence[Any]], questions: Sequence[str] = ()) -> str | None:
    """The options that read a table, as words of a command; None where the columns and their values leave a doubt.

    A column of addresses or times is never suggested.

    Parameters
    ----------
    columns : sequence of str
        Names in the header.
    rows : sequence of sequences
        The first rows.
    questions : sequence of str, optional
        The open questions of a form, where the input names them.

    Returns
    -------
    str or None

    Examples
    --------
    >>> suggestion(["id", "nurse_1", "nurse_2", "comment"], [["1", "fever", "high fever", ""], ["2", "rash", "rash", "x"]])
    '--item id --raters nurse_1,nurse_2'
    >>> suggestion(["Timestamp", "Picture 1", "Picture 2"], [["1/5/2026", "fever", "rash"], ["1/6/2026", "fever", "itch"]]) is None
    True
    """
    table = _Sample(columns, rows, questions)
    return table.long() or table.survey() or table.wide()


def open_questions(columns: Sequence[str], rows: Sequence[Sequence[Any]], questions: Sequence[str] = ()) -> str | None:
    """The questions of a form whose columns name no respondent, as words of a command; None for other tables.

    Parameters
    ----------
    columns, rows, questions
        As in :func:`suggestion`.

    Returns
    -------
    str or None

    Examples
    --------
    >>> rows = [["1/5/2026", "fever", "rash"], ["1/6/2026", "fever", "itch"]]
    >>> open_questions(["Timestamp", "Picture 1", "Picture 2"], rows)
    "--items 'Picture 1,Picture 2'"
    """
    return _Sample(columns, rows, questions).items()


class _Sample:
    """The first rows of a table, column by column."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], questions: Sequence[str]) -> None:
        self.columns = columns
        self.form = form_of(columns)
        self._known_questions = frozenset(questions)
        self.names = [normalize(name, casefold=True) for name in columns]
        self.cells = [[_cell(row, place) for row in rows] for place in range(len(columns))]
        self.public = [i for i, name in enumerate(self.names) if name and not self._is_private(i)]
        self.answers = [i for i in self.public if self._is_text(i) and not _ASIDE.fullmatch(self.names[i])]

    def long(self) -> str | None:
        """Options of a table with a row for each answer."""
        if self.form is not None:
            return self._long_form()
        rater, named = self._named("rater"), self._named("item")
        places = [named] if named is not None and rater is not None and self._joins(named, rater) else []
        text = self._text(places)
        if rater is None or text is None:
            return None
        places = places or [i for i in self.public if i not in (rater, text) and self._joins(i, rater)]
        if not places or any(self._groups(place) != self._groups(places[0]) for place in places):
            return None
        return self._options(item=self._with_part(places[0], rater, text), rater=[rater], text=[text])

    def _with_part(self, place: int, rater: int, text: int) -> list[int]:
        """The column of the items, with one that numbers their parts where raters have several rows of an item."""
        if self._is_key([place, rater]):
            return [place]
        others = [i for i in self.public if i not in (place, rater, text)]
        keys = [i for i in others if self._is_key([place, i, rater]) and not self._is_key([place, i])]
        return [place, *keys[:1]]

    def survey(self) -> str | None:
        """Options of a form: a row for each respondent, a column for each question."""
        respondents = [i for i in self._respondents() if self._is_unique(i)]
        questions = self._questions()
        if (len(respondents) != 1 and self.form is None) or not respondents or len(questions) < 2:
            return None
        if self.form is not None and len(self._called()) > 1:
            return None  # coders' columns beside the answers
        if self._has_returning_person():
            return None  # ids of responses are not their respondents
        return self._options(rater=respondents[:1], items=questions)

    def items(self) -> str | None:
        """The option of the questions, for a form without a column that names the respondent."""
        questions = self._questions()
        if self.form is None or len(questions) < 2 or self._has_returning_person():
            return None
        return self._options(items=questions)

    def _has_returning_person(self) -> bool:
        """Whether a form asks who answers, and somebody answered twice."""
        names = [self.cells[i] for i in self.public if is_person(self.columns[i])] if self.form is not None else []
        return any(len(set(filled)) < len(filled) for cells in names if (filled := [cell for cell in cells if cell]))

    def _questions(self) -> list[int]:
        aside = self._respondents()
        if self._known_questions:
            return [i for i, name in enumerate(self.columns) if name in self._known_questions and i not in aside]
        questions = [i for i in self.answers if i not in aside and self._is_question(i)]
        if self.form is not None and len(questions) < 2:
            questions = [i for i in self.answers if i not in aside]
        return questions

    def _respondents(self) -> list[int]:
        """Columns that may name the respondent; of a form the best one first."""
        named = [i for i in self.public if _RESPONDENT.fullmatch(self.columns[i].strip())]
        if self.form is None:
            return named
        persons = [i for i in self.public if is_person(self.columns[i])]
        return [*persons, *named, *(i for i in self.form.id_columns(self.columns) if not self._has_private_values(i))]

    def _long_form(self) -> str | None:
        """Options of a form with a response for each item and rater."""
        for rater in self._respondents():
            if self._is_unique(rater):
                continue
            items = [i for i in self.public if self._joins(i, rater) and self._is_key([i, rater])]
            items = [i for i in items if i not in self.answers or _stem(self.names[i]) in _known()["questions"]]
            texts = [i for i in self.answers if i != rater and i not in items and self._is_various(i)]
            if len(items) == 1 and texts:
                return self._options(item=items, rater=[rater], text=texts)
        return None

    def _is_key(self, places: Sequence[int]) -> bool:
        """Whether no two rows have the same values of these columns, and all have values."""
        rows = list(zip(*(self.cells[place] for place in places), strict=True))
        return len(set(rows)) == len(rows) and all(map(all, rows))

    def _is_various(self, place: int) -> bool:
        """Whether the cells of a column are more than a name or a constant."""
        return len(set(self.cells[place])) > 2 and not is_person(self.columns[place])

    def _called(self) -> list[int]:
        """Columns that are named after raters, or have the codes of each."""
        called = [
            i for i in self.answers if _stem(self.names[i]) in _known()["raters"] and not is_person(self.columns[i])
        ]
        return called or [i for i in self.public if _CODES_OF.fullmatch(self.names[i]) and self._is_text(i)]

    def wide(self) -> str | None:
        """Options of a table with a row for each item, and a column for each rater."""
        named = self._named("item")
        items = [named] if named is not None else self._first_key()
        if self.form is not None:
            items = [i for i in self.form.id_columns(self.columns) if self._is_unique(i)][:1]
        raters = [i for i in self.answers if i not in items]
        called = [i for i in self._called() if i not in items]
        raters = self._first_texts(called) if len(called) > 1 else raters
        if not items or not self._is_unique(items[0]) or len(raters) < 2 or any(map(self._is_question, raters)):
            return None
        if not called and not all(any(self._similar(i, k) for k in raters if k != i) for i in raters):
            return None
        if self._has_late_columns({_stem(self.names[i]) for i in called}):
            return None
        return self._options(item=items, raters=raters)

    def _first_key(self) -> list[int]:
        """The first column, or the first that names the rows where several others are named after raters."""
        if len(self._called()) < 2:
            return [i for i in self.public[:1] if i == 0]
        return [i for i in self.public if i not in self._called() and self._is_unique(i)][:1]

    def _first_texts(self, called: list[int]) -> list[int]:
        """The raters' columns of the first of several texts: Rater 1 Finding and Rater 2 Finding, not the plans."""
        parts = {i: match for i in called if (match := _OF_TEXT.fullmatch(self.columns[i].strip()))}
        texts = list(dict.fromkeys(part[2].casefold() for part in parts.values()))
        if len(parts) < len(called) or len(texts) < 2:
            return called
        return [i for i, part in parts.items() if part[2].casefold() == texts[0]]

    def _has_late_columns(self, stems: set[str]) -> bool:
        """Whether a column without a cell in these rows may be a rater's: with the stem of the others, if any."""
        named = [i for i in self.public if self.names[i]]
        empty = [i for i in named if not any(self.cells[i]) and not _ASIDE.fullmatch(self.names[i])]
        return any(not stems or _stem(self.names[i]) in stems for i in empty)

    def _named(self, role: str) -> int | None:
        names = [name.replace(" ", "_") for name in self.names]  # Record ID, as labels have it
        named = next((names.index(name) for name in ROLES[role] if name in names), None)
        if named is None and role == "rater":
            others = [i for i, name in enumerate(names) if name in _known()["raters"]]
            named = others[0] if len(others) == 1 else None
        if named is not None or role not in _CROWD:
            return named
        crowd = [i for i, name in enumerate(self.names) if re.match(_CROWD[role], name) and any(self.cells[i])]
        return crowd[0] if len(crowd) == 1 else None

    def _text(self, items: Sequence[int]) -> int | None:
        """The column of the answers: not one with a single text for each item, which is what raters were shown."""
        text = self._named("text")
        if text is not None and all(self._groups(text) != self._groups(item) for item in items):
            return text
        labels = [i for i in self.public if self.names[i] in ROLES["label"] and self._is_text(i)]
        return labels[0] if len(labels) == 1 else None

    def _is_private(self, place: int) -> bool:
        """Whether a column has addresses or times."""
        if self.form is not None and self.form.is_beside(self.columns[place]):
            return True
        name = self.names[place]
        words = {name, re.sub(r"\W", "", name), *re.split(r"[\W_]+", name)}
        is_question = self.form is not None and (name.endswith("?") or len(words) > 5)
        return (bool(words & _known()["private"]) and not is_question) or self._has_private_values(place)

    def _has_private_values(self, place: int) -> bool:
        filled = [cell for cell in self.cells[place] if cell]
        return 2 * sum(bool(_PRIVATE_VALUE.fullmatch(cell)) for cell in filled) > len(filled)

    def _is_text(self, place: int) -> bool:
        """Whether most of the cells hold words, not numbers, dates, marks, true or false."""
        filled = [cell for cell in self.cells[place] if cell]
        if all(cell.casefold() in ("true", "false") for cell in filled):
            return False
        return 2 * sum(3 * sum(map(str.isalpha, cell)) > len(cell) for cell in filled) > len(filled)

    def _is_unique(self, place: int) -> bool:
        cells = self.cells[place]
        return len(cells) > 1 and all(cells) and len(set(cells)) == len(cells)

    def _is_question(self, place: int) -> bool:
        name = self.names[place]
        return (
            name.endswith("?")
            or len(name.split()) > 4
            or bool(re.search(r"\d", name) and _stem(name) in _known()["questions"])
        )

    def _groups(self, place: int) -> list[int]:
        """Number of the group of each row: rows of one value are one group."""
        numbers: dict[str, int] = {}
        return [numbers.setdefault(cell, len(numbers)) for cell in self.cells[place]]

    def _joins(self, place: int, rater: int) -> bool:
        """Whether two raters have a row with the same value of the column."""
        if place == rater or place not in self.public or set(self.cells[place]) <= {"0", "1", ""}:
            return False
        raters: dict[str, set[str]] = {}
        for cell, who in zip(self.cells[place], self.cells[rater], strict=True):
            raters.setdefault(cell, set()).add(who)
        return len(raters) > 1 and any(len(own) > 1 for cell, own in raters.items() if cell)

    def _similar(self, one: int, other: int) -> bool:
        """Whether two columns have answers to one item in common, at least in part."""
        pairs = (
            (set(a.casefold().split()), set(b.casefold().split()))
            for a, b in zip(self.cells[one], self.cells[other], strict=True)
        )
        return any(len(a & b) >= _SIMILAR * len(a | b) for a, b in pairs if a and b)

    def _options(self, **options: Sequence[int]) -> str:
        words = []
        for option, which in options.items():
            names = [self.columns[i] for i in which]
            if option == "item" and len(names) > 1:
                names = ["+".join(names)]
            if any(mark in name for name in names for mark in ",+*=") and len(names) > 1:
                words += [f"--{option} {shlex.quote(name)}" for name in names]
            else:
                words.append(f"--{option} {shlex.quote(','.join(names))}")
        return " ".join(words)


def _cell(row: Sequence[Any], place: int) -> str:
    value = row[place] if place < len(row) else None
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    text = "" if value is None else str(value)
    return "" if is_blank(text) else normalize(text)


def _stem(name: str) -> str:
    """The first word of a name, without what numbers it: nurse of nurse_1."""
    word = re.match(r"[^\W\d_]+", name)
    return word[0] if word else ""


@cache
def _known() -> Mapping[str, frozenset[str]]:
    """Names of columns, and first words of names."""
    return {kind: frozenset(names) for kind, names in data_file("column_names").items()}
