"""Evaluation tables of MLflow (``eval_results_table.json``): inputs with the model's output and the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.errors import InputError
from softirr.tables.archives import Folder
from softirr.tables.evaluations import Evaluation, is_folder_of, read_files
from softirr.tables.gathered import Records, Request, Tables
from softirr.tables.registry import Format, Ways

__all__ = ["FORMATS"]

_NAME = "mlflow"
_INPUTS, _OUTPUTS = ("inputs", "request", "question"), ("outputs", "predictions", "prediction", "response")
_TARGETS = ("ground_truth", "targets", "target", "expected_response")


def _is_it(record: Mapping[str, Any]) -> bool:
    columns = record.get("columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        return False
    return isinstance(record.get("data"), list) and not set(_OUTPUTS).isdisjoint(columns)


def _read(records: Records, request: Request) -> Tables:
    evaluation = Evaluation(request, _NAME)
    _keep(records, request, None, evaluation)
    return evaluation.tables()


def _read_folder(folder: Folder, request: Request) -> Tables:
    evaluation = Evaluation(request, _NAME)
    read_files(folder, request, lambda records, own, name: _keep(records, own, name, evaluation))
    return evaluation.tables()


def _keep(records: Records, request: Request, model: str | None, evaluation: Evaluation) -> None:
    """The rows of a table; an item is an input, or a row where there is none."""
    for line, record in records:
        place = request.line(line)
        if not isinstance(record, Mapping) or not _is_it(record):
            raise InputError(f"{place}: expected an evaluation table of MLflow, with columns and data.")
        columns = record["columns"]
        if len(set(columns)) < len(columns):
            raise InputError(f"{place}: two columns have the same name.")
        for number, row in enumerate(record["data"], start=1):
            if not isinstance(row, list) or len(row) != len(columns):
                raise InputError(f"{place}: row {number} has not as many values as there are columns.")
            cells = dict(zip(columns, row, strict=True))
            item, output, target = (_named(names, cells) for names in (_INPUTS, _OUTPUTS, _TARGETS))
            id = cells[item] if isinstance(cells.get(item), str) else str(number)
            evaluation.answer(id, model or output, cells[output], f"{place}, row {number}")
            evaluation.reference(id, cells.get(target), f"{place}, row {number}")


def _named(names: tuple[str, ...], cells: Mapping[str, Any]) -> str:
    """The first of these columns that is there."""
    return next((name for name in names if name in cells), "")


FORMATS = (
    Format(_NAME, records=Ways(_is_it, _read), folder=Ways(lambda folder: is_folder_of(folder, _is_it), _read_folder)),
)
