"""Answers of language models, and the reference that they are graded against, from logs of evaluations.

A model is the rater ``model:NAME``, and the reference is the rater ``reference``. If a model ran several times on the
same items, each run is a rater of its own: ``model:NAME#1``, ``model:NAME#2``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from softirr.errors import InputError
from softirr.tables.archives import Folder
from softirr.tables.gathered import Records, Request, Tables, gathered_tables
from softirr.tables.layout import shown
from softirr.tables.rows import Rows
from softirr.tables.table import MODEL, REFERENCE
from softirr.text import is_blank

__all__ = ["Evaluation", "is_folder_of", "read_files"]

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


def is_folder_of(folder: Folder, is_it: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Whether every table of a folder is a log.

    Parameters
    ----------
    folder : Folder
    is_it : callable
        Gets the first record of a file.

    Returns
    -------
    bool
    """
    tables = folder.tables
    return bool(tables) and all(
        path.suffix.casefold() in (".json", ".jsonl") and is_it(folder.first_record(path)) for path in tables
    )


def read_files(folder: Folder, request: Request, read: Callable[[Records, Request, str], None]) -> None:
    """Read each log of a folder.

    Parameters
    ----------
    folder : Folder
    request : Request
    read : callable
        Gets the records of a file, its request, and its name without suffix.

    Raises
    ------
    InputError
        If a file has other content.
    """
    for path in folder.tables:
        content = folder.open(path)
        if isinstance(content, Rows):
            raise InputError(f"{path} is a table, but the other files of its folder are logs of evaluations.")
        read(content, replace(request, name=str(path)), path.stem)
