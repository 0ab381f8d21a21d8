"""Who wrote what about which item: the table that everything is computed from, and its readers.

Missing is not empty (docs/explanation/definitions.md): a rater who gave no answer has no row; a rater who submitted nothing has the empty
answer ``()``. Whatever a reader leaves out stands in ``AnnotationTable.excluded`` with its reason.
"""

import codecs
import contextlib
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.tables import export_check
from softirr.text import normalise

AGREEMENT_VERSION = "agreement"  # model_version of our own predictions: never a rater

SKIPPED = "skipped"
DRAFT = "draft, not submitted"
COPIED = "copied from a prediction"
COPIED_AND_EDITED = "copied from a prediction and edited"
OLDER_DUPLICATE = "older answer of the same rater"
NO_RATER = "no annotator named"


@dataclass(frozen=True)
class Answer:
    """What one rater wrote about one item; ``texts=()`` is a submitted, empty answer.

    A plain string is one text: ``Answer("1", "ann", "fever")`` is ``Answer("1", "ann", ("fever",))``.

    Raises
    ------
    InputError
        If a text is not a string, such as the NaN of a data frame.
    """

    item: str
    rater: str
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        texts: Any = (self.texts,) if isinstance(self.texts, str) else self.texts
        parts = tuple(texts) if isinstance(texts, Iterable) else (texts,)
        for part in parts:
            if not isinstance(part, str):
                raise InputError(
                    f"An answer holds {part!r}, which is not a text: leave out an answer that is missing, "
                    "and give () for an empty one."
                )
        object.__setattr__(self, "texts", parts)


@dataclass(frozen=True)
class Excluded:
    """An answer that counts for nothing, and why."""

    item: str
    rater: str
    reason: str


@dataclass(frozen=True, eq=False)
class AnnotationTable:
    """Items x raters -> answer, as arrays over the answers that were given.

    Attributes
    ----------
    items, raters : tuple of str
        Ids in order of first appearance; items without an answer are kept.
    texts : tuple of str
        Distinct normalised texts, sorted: an item's result does not depend on what else is in the table.
    answers : tuple of tuple of int
        Distinct answers, each a sorted tuple of indices into `texts`; ``()`` is the empty answer.
    item, rater, answer : ndarray of int64, shape (n,)
        One entry per given answer, sorted by item, then rater: indices into `items`, `raters` and `answers`.
    excluded : tuple of Excluded
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    texts: tuple[str, ...]
    answers: tuple[tuple[int, ...], ...]
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    answer: NDArray[np.int64]
    excluded: tuple[Excluded, ...] = ()

    @classmethod
    def from_answers(
        cls,
        answers: Iterable[Answer],
        *,
        items: Iterable[str] = (),
        excluded: Iterable[Excluded] = (),
        casefold: bool = False,
    ) -> Self:
        """Build the table; texts are normalised, and empty or repeated texts within one answer are folded away.

        Parameters
        ----------
        answers : iterable of Answer
        items : iterable of str
            Ids that exist whether answered or not; they come first, in this order.
        excluded : iterable of Excluded
        casefold : bool
            Texts that differ only in case are one text.

        Raises
        ------
        InputError
            If one rater answers one item twice.
        """
        item_ids = {name: index for index, name in enumerate(dict.fromkeys(items))}
        rater_ids: dict[str, int] = {}
        texts: set[str] = set()
        answer_ids: dict[tuple[str, ...], int] = {}
        rows: dict[tuple[int, int], int] = {}
        for given in answers:
            folded = (normalise(text, casefold=casefold) for text in given.texts)
            key = tuple(sorted({text for text in folded if text}))
            texts.update(key)
            place = item_ids.setdefault(given.item, len(item_ids)), rater_ids.setdefault(given.rater, len(rater_ids))
            if place in rows:
                raise InputError(f"Rater {given.rater!r} has two answers for item {given.item!r}.")
            rows[place] = answer_ids.setdefault(key, len(answer_ids))
        order = sorted(rows)
        text_ids = {text: index for index, text in enumerate(sorted(texts))}
        return cls(
            items=tuple(item_ids),
            raters=tuple(rater_ids),
            texts=tuple(text_ids),
            answers=tuple(tuple(text_ids[text] for text in key) for key in answer_ids),
            item=np.array([item for item, _ in order], dtype=np.int64),
            rater=np.array([rater for _, rater in order], dtype=np.int64),
            answer=np.array([rows[place] for place in order], dtype=np.int64),
            excluded=tuple(excluded),
        )

    @property
    def is_single(self) -> bool:
        """Whether every answer holds exactly one text: no sets, no empty answers."""
        return all(len(answer) == 1 for answer in self.answers)

    def texts_of(self, answer: int) -> tuple[str, ...]:
        """Texts of the distinct answer number `answer`."""
        return tuple(self.texts[text] for text in self.answers[answer])


# --- Label Studio -----------------------------------------------------------------------------------------------------


def label_studio_answers(
    task: Mapping[str, Any], *, control: str | None, predictions_as_raters: bool = False
) -> tuple[list[Answer], list[Excluded]]:
    """Answers in one task of a Label Studio JSON export or of its API, and those that don't count.

    Skipped annotations, drafts, answers copied from a prediction and older answers of one rater are excluded with the reason.

    Parameters
    ----------
    task : mapping
        With ``id``, ``annotations`` and, where present, ``drafts`` and ``predictions``.
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.
    predictions_as_raters : bool
        Count each model version's newest prediction as the answer of a rater ``model:VERSION``.
    """
    item = _task_id(task)
    answers: dict[str, tuple[tuple[str, str, int], Answer]] = {}
    excluded: list[Excluded] = []

    def keep_newest(rater: str, source: Mapping[str, Any]) -> None:
        dated = _age(source), Answer(item, rater, _texts(source, control))
        if rater in answers:
            excluded.append(Excluded(item, rater, OLDER_DUPLICATE))
            dated = max(dated, answers[rater], key=lambda pair: pair[0])
        answers[rater] = dated

    for annotation in _mappings(task.get("annotations")):
        rater = _user(annotation.get("completed_by"))
        copied = _copied(annotation, control)
        if annotation.get("was_cancelled"):
            excluded.append(Excluded(item, rater or "", SKIPPED))
        elif rater is None:
            excluded.append(Excluded(item, "", NO_RATER))
        elif copied:
            excluded.append(Excluded(item, rater, copied))
        else:
            keep_newest(rater, annotation)
    for draft in _mappings(task.get("drafts")):
        excluded.append(Excluded(item, _user(draft.get("user")) or "", DRAFT))
    if predictions_as_raters:
        for prediction in _mappings(task.get("predictions")):
            version = prediction.get("model_version") or ""
            if version != AGREEMENT_VERSION:
                keep_newest(f"model:{version}", prediction)
    return [answer for _, answer in answers.values()], excluded


def text_controls(tasks: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """``from_name`` of every TextArea that has a result in the tasks' annotations, in order of appearance."""
    names: dict[str, None] = {}
    for task in tasks:
        for annotation in _mappings(task.get("annotations")):
            for region in _mappings(annotation.get("result")):
                if region.get("type") == "textarea" and isinstance(region.get("from_name"), str):
                    names[region["from_name"]] = None
    return tuple(names)


def _task_id(task: Mapping[str, Any]) -> str:
    if not isinstance(task.get("id"), int | str):
        raise InputError("A task of the export has no id.")
    return str(task["id"])


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; exports hold bare ids where objects were not asked for."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))


def _user(value: Any) -> str | None:
    """Id of a user: Label Studio gives a number, an object or an email address."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("email"))
    return None if value is None or isinstance(value, bool) else str(value)


def _regions(source: Mapping[str, Any], control: str | None) -> Iterator[Mapping[str, Any]]:
    for region in _mappings(source.get("result")):
        if region.get("type") == "textarea" and control in (None, region.get("from_name")):
            yield region


def _texts(source: Mapping[str, Any], control: str | None) -> tuple[str, ...]:
    """All strings of the control: one result with several strings and several results with one are the same answer."""
    texts: list[str] = []
    for region in _regions(source, control):
        value = region.get("value")
        text = value.get("text") if isinstance(value, Mapping) else None
        texts.extend(part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str))
    return tuple(texts)


def _copied(annotation: Mapping[str, Any], control: str | None) -> str | None:
    origins = {
        str(region.get("origin") or ("prediction" if annotation.get("parent_prediction") else "manual"))
        for region in _regions(annotation, control)
    }
    if "prediction" in origins:
        return COPIED
    return COPIED_AND_EDITED if "prediction-changed" in origins else None


def _age(source: Mapping[str, Any]) -> tuple[str, str, int]:
    """Sort key for "newest": ISO dates of one server sort as strings."""
    number = source.get("id")
    return (
        str(source.get("updated_at") or ""),
        str(source.get("created_at") or ""),
        number if isinstance(number, int) else 0,
    )


# --- files ------------------------------------------------------------------------------------------------------------


def read(
    source: str | os.PathLike[str] | io.TextIOBase,
    *,
    control: str | None = None,
    casefold: bool = False,
    predictions_as_raters: bool = False,
) -> AnnotationTable:
    """Read a Label Studio JSON export, a long CSV ``item,rater,text`` or JSONL ``{"item", "rater", "texts"}``.

    Parameters
    ----------
    source : path, "-" for standard input, or open text stream
    control : str, optional
        The TextArea to read from a Label Studio export; needed when the export has several.
    casefold : bool
        Texts that differ only in case are one text.
    predictions_as_raters : bool
        In a Label Studio export, count each model version as a rater.

    Raises
    ------
    InputError
        If the input can't be used; the message says what is wrong and on which line.
    """
    name, text = contents(source, _refuse_other_kinds)
    first = re.search(r"\S", text)
    start = first.group() if first else ""
    if not start:
        raise InputError(f"{name} is empty.")
    if start == "[":
        tasks, places = _tasks(name, text, predictions=predictions_as_raters)
        control = _choose_control(name, tasks, control)
        for position, wrong in export_check.check_control(tasks, control):
            raise _damaged(name, text, places[position], tasks[position], wrong)
        return _from_label_studio(tasks, control, casefold, predictions_as_raters)
    if start == "{" and _is_one_object(text):
        raise InputError(
            f'{name} is one JSON object: a Label Studio export is a list of tasks, and JSONL has {{"item": ..., "rater": ..., '
            '"texts": [...]} on each line.'
        )
    if control is not None or predictions_as_raters:
        raise InputError(f"{name} is no Label Studio export, so it has no controls and no predictions to choose from.")
    rows = _jsonl_answers(name, text) if start == "{" else _csv_answers(name, text)
    return AnnotationTable.from_answers(rows[0], items=rows[1], excluded=rows[2], casefold=casefold)


def _is_one_object(text: str) -> bool:
    """Whether a text that begins with a brace holds a single JSON object that is no line of JSONL."""
    if len(text) > _LONGEST_OBJECT:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not {"item", "rater", "texts"} & found.keys()


_LONGEST_OBJECT = 1_000_000  # beyond it the first line says enough

_Rows = tuple[list[Answer], list[str], list[Excluded]]


def contents(
    source: str | os.PathLike[str] | io.TextIOBase, refuse: Callable[[str, str], None] = lambda name, start: None
) -> tuple[str, str]:
    """Name for messages, and the whole text; `refuse` gets name and beginning, and may raise before the rest is read."""
    if isinstance(source, io.TextIOBase):
        return getattr(source, "name", None) or "The input", source.read().removeprefix("\ufeff")
    name = "Standard input" if source == "-" else " ".join(os.fspath(source).splitlines())
    try:
        if source == "-":
            if sys.stdin is None:  # closed by the caller
                raise InputError("Standard input is closed.")
            data = _whole(name, sys.stdin.buffer, refuse)
        else:
            with open(source, "rb") as file:
                data = _whole(name, file, refuse)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise InputError(f"{name} can't be read: {getattr(error, 'strerror', None) or error}.") from None
    return name, _decoded(name, data)


def _decoded(name: str, data: bytes, *, whole: bool = True) -> str:
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data, final=whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not UTF-8 text: line {line} has a byte that does not belong there.") from None


# What a file begins with that is no text, and what to do about it.
_FOREIGN = {
    b"\x1f\x8b": "compressed (gzip): unpack it first",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook: unpack it, or save the table as CSV in UTF-8",
    b"\xff\xfe": "text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "text in UTF-16: save it as UTF-8",
}


def _whole(name: str, file: IO[bytes], refuse: Callable[[str, str], None]) -> bytes:
    """All bytes of a stream; its beginning is looked at first, so that nonsense is not read in whole, however long it is."""
    start = file.read(65536)
    for mark, advice in _FOREIGN.items():
        if start.startswith(mark):
            raise InputError(f"{name} is {advice}.")
    if b"\0" in start:
        raise InputError(f"{name} is not text: it holds zero bytes.")
    refuse(name, _decoded(name, start, whole=False))
    return start + file.read()


def _refuse_other_kinds(name: str, start: str) -> None:
    text = start.lstrip()
    if text and text[0] not in "[{" and _delimiter(start) is None:
        raise _unknown_kind(name)


def _tasks(name: str, text: str, *, predictions: bool) -> tuple[list[Mapping[str, Any]], list[int]]:
    """The tasks of an export and where each begins: what is no task ends the reading before the rest takes memory."""
    decoder = export_check.decoder()
    tasks: list[Mapping[str, Any]] = []
    places: list[int] = []
    try:
        place = _after_space(text, _after_space(text, 0) + 1)
        while text[place : place + 1] != "]" or tasks:
            places.append(place)
            task, place = decoder.raw_decode(text, place)
            tasks.append(_checked_task(name, task, len(tasks) + 1))
            try:
                export_check.check_annotations(task)
                if predictions:
                    export_check.check_predictions(task)
            except export_check.Damage as damage:
                raise _damaged(name, text, places[-1], task, str(damage)) from None
            place = _after_space(text, place)
            if text[place : place + 1] != ",":
                break
            place = _after_space(text, place + 1)
        if text[place : place + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' or ']' after a task", text, place)
        rest = _after_space(text, place + 1)
        if rest != len(text):
            raise json.JSONDecodeError("Extra data", text, rest)
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is not valid JSON: {error.msg} on line {error.lineno}.") from None
    except RecursionError:
        raise InputError(f"{name} is not valid JSON: it is nested too deeply.") from None
    except InputError:
        raise
    except export_check.RepeatedKey as error:
        line = _line(text, places[-1])
        raise InputError(f"{name}, line {line}: task number {len(places)} has the key {error} twice.") from None
    except ValueError:
        raise InputError(f"{name} is not valid JSON: it holds an impossible number.") from None
    if not tasks:
        raise InputError(f"{name} holds no tasks.")
    return tasks, places


def _damaged(name: str, text: str, place: int, task: Mapping[str, Any], wrong: str) -> InputError:
    return InputError(f"{name}, line {_line(text, place)}: task {_listed([str(task['id'])])[:40]}: {wrong}.")


def _line(text: str, place: int) -> int:
    """Number of the line, from 1, that a place in a text is on."""
    return text.count("\n", 0, place) + 1


def _after_space(text: str, place: int) -> int:
    """The next place that is no JSON white space."""
    found = _JSON_SPACE.match(text, place)
    return found.end() if found else place


_JSON_SPACE = re.compile(r"[ \t\n\r]*")


def _checked_task(name: str, task: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(task, Mapping) or "annotations" not in task:
        raise InputError(
            f"{name} is no Label Studio JSON export: entry {number} is not a task with annotations "
            "(export with the format JSON, not JSON_MIN)."
        )
    identifier = task.get("id")
    if not isinstance(identifier, int | str) or isinstance(identifier, bool) or identifier == "":
        raise InputError(f"{name}: task number {number} has no id.")
    return task


def _choose_control(name: str, tasks: list[Mapping[str, Any]], control: str | None) -> str:
    found = text_controls(tasks)
    if not found:
        raise InputError(f"{name} has no TextArea answers: no annotation holds a result of type textarea.")
    if control is None:
        if len(found) > 1:
            raise InputError(f"{name} has several TextArea controls ({_listed(found)}): choose one with --control.")
        return found[0]
    if control not in found:
        raise InputError(f"{name} has no TextArea named {control!r}; it has {_listed(found)}.")
    return control


def _listed(names: Iterable[str]) -> str:
    return ", ".join("".join(mark if mark.isprintable() else "?" for mark in name) for name in names)


def _from_label_studio(
    tasks: list[Mapping[str, Any]], control: str, casefold: bool, predictions_as_raters: bool
) -> AnnotationTable:
    answers: list[Answer] = []
    excluded: list[Excluded] = []
    seen: set[str] = set()
    for task in tasks:
        identifier = _task_id(task)
        if identifier in seen:
            raise InputError(f"The export holds task {identifier} twice.")
        seen.add(identifier)
        given, left_out = label_studio_answers(task, control=control, predictions_as_raters=predictions_as_raters)
        answers += given
        excluded += left_out
    return AnnotationTable.from_answers(
        answers, items=(str(task["id"]) for task in tasks), excluded=excluded, casefold=casefold
    )


def _jsonl_answers(name: str, text: str) -> _Rows:
    answers: dict[tuple[str, str], Answer] = {}
    items: list[str] = []
    excluded: list[Excluded] = []
    for number, line in enumerate(io.StringIO(text), start=1):
        if not line.strip():
            continue
        item, rater, texts = _jsonl_row(f"{name}, line {number}", line)
        items.append(item)
        if answers.pop((item, rater), None) is not None:
            excluded.append(Excluded(item, rater, OLDER_DUPLICATE))
        if texts is not None:
            answers[item, rater] = Answer(item, rater, texts)
    return list(answers.values()), items, excluded


def _jsonl_row(place: str, line: str) -> tuple[str, str, tuple[str, ...] | None]:
    try:
        row = json.loads(line, object_pairs_hook=export_check.unique_keys)
    except export_check.RepeatedKey as error:
        raise InputError(f"{place}: the key {error} stands there twice.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{place}: not valid JSON.") from None
    if not isinstance(row, dict) or not {"item", "rater", "texts"} <= row.keys():
        raise InputError(f'{place}: expected {{"item": ..., "rater": ..., "texts": [...]}}.')
    names = []
    for key in ("item", "rater"):
        given = row[key]
        if isinstance(given, bool) or not isinstance(given, int | str) or not str(given).strip():
            raise InputError(f"{place}: {key} is neither a name nor a number.")
        names.append(_identifier(place, key, str(given)))
    item, rater = names
    texts = row["texts"]
    if texts is None:  # asked, but no answer: the item exists, the answer is missing
        return item, rater, None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{place}: texts is not a list of strings.")
    return item, rater, tuple(texts)


def _identifier(place: str, key: str, given: str) -> str:
    """Name of an item or rater without the white space around it: what looks the same has to be the same.

    A byte order mark inside a file is a trace of two files pasted together.
    """
    if "\ufeff" in given:
        raise InputError(f"{place}: the {key} holds a byte order mark: paste files together without it.")
    return given.strip()


def _csv_answers(name: str, text: str) -> _Rows:
    delimiter = _delimiter(text)
    if delimiter is None:
        raise _unknown_kind(name)
    texts: dict[tuple[str, str], list[str]] = {}
    long: list[tuple[int, str]] = []  # answers over several lines, and the line that each ends on
    with long_fields():
        lines = _Lines(io.StringIO(text, newline=""))
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            header = next(reader)
            column = _columns(_first_line(text), delimiter)
            _check_header(name, header)
            lines.quotes = 0
            for row in reader:
                quotes, lines.quotes = lines.quotes, 0
                if not row:
                    continue
                place = f"{name}, line {reader.line_num}"
                _check_row(place, row, header, max(column.values()))
                if quotes % 2 and any(cell.endswith('"') for cell in row):
                    raise InputError(f"{place}: a quote ends an answer that no quote begins.")
                item, rater = (_identifier(place, key, row[column[key]]) for key in ("item", "rater"))
                if not item or not rater:
                    raise InputError(f"{place}: the {'rater' if item else 'item'} is missing.")
                if item.count('"') % 2 or rater.count('"') % 2:
                    raise InputError(f"{place}: a quote stands within the item or the rater: a separator is lost.")
                answer = row[column["text"]]
                texts.setdefault((item, rater), []).append(answer)
                if "\n" in answer or "\r" in answer:
                    long.append((reader.line_num, answer))
        except csv.Error as error:
            raise InputError(f"{name}, line {reader.line_num}: not valid CSV ({error}).") from None
        _check_quotes(name, long, column, {rater for _, rater in texts}, delimiter)
    if not texts:
        raise InputError(f"{name} has a header but no answers.")
    return [Answer(item, rater, tuple(written)) for (item, rater), written in texts.items()], [], []


class _Lines:
    """Lines of a CSV file; counts the quotes in them, which the csv module does not tell of cells without quotes around them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.quotes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.quotes += line.count('"')
        return line


def _check_header(name: str, header: list[str]) -> None:
    names = [cell.strip().casefold() for cell in header]
    for key in ("item", "rater", "text"):
        if names.count(key) > 1:
            raise InputError(f"{name}, line 1: the header names {key} twice.")


def _check_row(place: str, row: list[str], header: list[str], last: int) -> None:
    if len(row) <= last:
        raise InputError(f"{place}: expected item, rater and text.")
    if len(row) > len(header):
        raise InputError(
            f"{place}: {len(row)} cells where the header has {len(header)}: put quotes around a text that holds the separator."
        )
    if row == header:
        raise InputError(f"{place}: the header stands there again: paste files together without it.")


def _check_quotes(
    name: str, long: list[tuple[int, str]], column: Mapping[str, int], raters: set[str], delimiter: str
) -> None:
    """Refuse an answer over several lines that has swallowed whole rows: a quote was opened and closed rows later."""
    for end, answer in long:
        lines = re.split(r"\r\n|\r|\n", answer)
        for number, line in enumerate(lines[1:], start=end - len(lines) + 2):
            cells = line.split(delimiter)
            if len(cells) > max(column["item"], column["rater"]) and cells[column["rater"]].strip() in raters:
                raise InputError(
                    f"{name}, line {number}: a row stands inside the quotes of the answer before it: a quote is not closed."
                )


def _unknown_kind(name: str) -> InputError:
    return InputError(f"{name} is none of: Label Studio JSON export, JSONL, CSV with the header item,rater,text.")


def _first_line(text: str) -> str:
    return (text[:65536].splitlines() or [""])[0]


def _delimiter(text: str) -> str | None:
    """What separates the columns of a table that has the right header."""
    return next((mark for mark in ",;\t" if _columns(_first_line(text), mark)), None)


def _columns(header: str, delimiter: str) -> dict[str, int]:
    """Column numbers of item, rater and text, or nothing if the header lacks one of them."""
    try:
        names = [name.strip().casefold() for name in next(csv.reader([header.rstrip("\r\n")], delimiter=delimiter), [])]
    except csv.Error:
        return {}
    wanted = ("item", "rater", "text")
    return {name: names.index(name) for name in wanted} if set(wanted) <= set(names) else {}


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let one field be as long as it likes: the csv module stops at 128 KiB, which a long answer passes."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
