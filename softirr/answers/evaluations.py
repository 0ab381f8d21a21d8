"""Answers of language models, and the reference that they are graded against, from logs of evaluations.

A model is the rater ``model:NAME``, and the reference is the rater ``reference``. If a model ran several times on the
same items, each run is a rater of its own: ``model:NAME#1``, ``model:NAME#2``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from softirr.answers.archives import Folder
from softirr.answers.gathered import Records, Request, Tables, gathered_tables
from softirr.answers.layout import listed, shown
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows
from softirr.answers.table import MODEL, REFERENCE
from softirr.errors import InputError
from softirr.text import is_blank

__all__ = ["Evaluation", "Log", "log_format"]

_FAILED = "the model failed"


class Evaluation:
    """Answers and references as they are read.

    Parameters
    ----------
    request : Request
    format : str
        Name of the format.
    """

    def __init__(self, request: Request, format: str) -> None:
        self._request, self._format = request, format
        self._answers: list[tuple[str, str, int, str | None, str, bool]] = []
        self._references: dict[str, str] = {}
        self._people: list[tuple[str, str, str | None, str]] = []
        self.n_rows = 0

    def answer(self, item: Any, model: Any, value: Any, place: str, *, run: int = 1, failed: bool = False) -> None:
        """Keep the answer of a model; None is a missing one.

        Raises
        ------
        InputError
            If the item or the model has no name, or the answer is no text.
        """
        self.n_rows += 1
        for name, what in ((item, "item"), (model, "model")):
            if not isinstance(name, str | int) or isinstance(name, bool) or is_blank(str(name)):
                raise InputError(f"{place}: an answer does not name its {what}.")
        self._answers.append((str(item), str(model), run, _text(value, place), place, failed))

    def person(self, item: str, rater: str, value: Any, place: str) -> None:
        """Keep the answer of an annotator; of several to an item, the last one counts.

        Raises
        ------
        InputError
            If it is not text.
        """
        self.n_rows += 1
        self._people.append((item, rater, _text(value, place), place))

    def reference(self, item: Any, value: Any, place: str) -> None:
        """Keep the reference of an item; of several accepted ones, the first.

        Raises
        ------
        InputError
            If it is no text, or the item has another reference already.
        """
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            value = value[0]
        text = _text(value, place)
        if text is None or is_blank(text):
            return
        if self._references.setdefault(str(item), text) != text:
            raise InputError(
                f"{place}: item {shown(str(item))} has two references, so these are logs of different data."
            )

    def tables(self, field: str = "answer", *, notes: tuple[str, ...] = ()) -> Tables:
        """The table of all answers and references."""
        gathered = self._request.gathered()
        runs: dict[str, int] = {}
        for _, model, run, *_ in self._answers:
            runs[model] = max(runs.get(model, 0), run)
        for item, model, run, text, place, failed in self._answers:
            rater = f"{MODEL}{model}#{run}" if runs[model] > 1 else MODEL + model
            if failed or text is None:
                gathered.drop(item, rater, _FAILED if failed else None)
            else:
                gathered.add(item, rater, None if is_blank(text) else text, place)
        for item, rater, text, place in self._people:
            gathered.add(item, rater, None if text is None or is_blank(text) else text, place)
        for item, text in self._references.items():
            gathered.add(item, REFERENCE, text)
        return gathered_tables(self._request, self._format, {field: gathered}, n_rows=self.n_rows, notes=notes)


def _text(value: Any, place: str) -> str | None:
    """A text, or the texts of a list of parts of a message."""
    if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        value = "\n".join(str(one["text"]) for one in value if isinstance(one.get("text"), str))
    if value is not None and not isinstance(value, str):
        raise InputError(f"{place}: an answer is not text.")
    return value


class Log(Protocol):
    """What the files of one log, or of a folder of logs, say."""

    def add(self, records: Records, request: Request, name: str | None) -> None:
        """Keep the records of a file; a file in a folder has a name, without its ending."""

    def tables(self) -> Tables:
        """The tables of all that was kept."""


def log_format(
    name: str,
    start: Callable[[Request], Log],
    is_it: Callable[[Mapping[str, Any]], bool],
    *,
    what: str = "logs of evaluations",
    is_folder: Callable[[Folder], bool] | None = None,
) -> Format:
    """The format of logs that come one by one, or as a folder with a log for each model.

    Parameters
    ----------
    name : str
    start : callable
        Gives an empty log for a request.
    is_it : callable
        Gets the first record of a file; whether this is such a log.
    what : str
        What the files are, for messages.
    is_folder : callable, optional
        Whether a folder has such logs; its other files are left out with a note. By default each table is a log.

    Returns
    -------
    Format

    Raises
    ------
    InputError
        When a folder is read in which some files are tables and others are not.
    """

    def read(records: Records, request: Request) -> Tables:
        log = start(request)
        log.add(records, request, None)
        return log.tables()

    def of_logs(folder: Folder) -> bool:
        return bool(folder.tables) and all(
            path.suffix.casefold() in (".json", ".jsonl") and is_it(folder.first_record(path)) for path in folder.tables
        )

    def read_folder(folder: Folder, request: Request) -> Tables:
        log = start(request)
        paths = folder.ending(".json", ".jsonl") if is_folder else folder.tables
        for path in paths:
            content = folder.open(path)
            if isinstance(content, Rows):
                raise InputError(f"{path} is a table, but the other files of its folder are {what}.")
            log.add(content, replace(request, name=str(path)), path.stem)
        others = [path.relative_to(folder.path).as_posix() for path in folder.files if path not in paths]
        note = (f"Only JSON and JSONL are read; left out: {listed(others)}.",) if is_folder and others else ()
        return {name: replace(table, warnings=(*table.warnings, *note)) for name, table in log.tables().items()}

    return Format(name, records=Ways(is_it, read), folder=Ways(is_folder or of_logs, read_folder))
