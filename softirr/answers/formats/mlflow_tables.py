"""Evaluation tables of MLflow (``eval_results_table.json``): inputs with the model's output and the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.answers.evaluations import Evaluation, log_format
from softirr.answers.gathered import Records, Request
from softirr.errors import InputError

__all__ = ["FORMATS"]

_NAME = "mlflow"
_INPUTS, _OUTPUTS = ("inputs", "request", "question"), ("outputs", "predictions", "prediction", "response")
_TARGETS = ("ground_truth", "targets", "target", "expected_response")


def _is_it(record: Mapping[str, Any]) -> bool:
    columns = record.get("columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        return False
    return isinstance(record.get("data"), list) and not set(_OUTPUTS).isdisjoint(columns)


class _Tables(Evaluation):
    """The rows of tables; an item is an input, or a row where there is none."""

    def add(self, records: Records, request: Request, name: str | None) -> None:
        """Keep the rows of a table; a file of a folder is named after its model."""
        for place, record in request.checked(records, _is_it, "an evaluation table of MLflow, with columns and data"):
            columns = record["columns"]
            if len(set(columns)) < len(columns):
                raise InputError(f"{place}: two columns have the same name.")
            for number, row in enumerate(record["data"], start=1):
                if not isinstance(row, list) or len(row) != len(columns):
                    raise InputError(f"{place}: row {number} has not as many values as there are columns.")
                cells = dict(zip(columns, row, strict=True))
                item, output, target = (_named(names, cells) for names in (_INPUTS, _OUTPUTS, _TARGETS))
                id = cells[item] if isinstance(cells.get(item), str) else str(number)
                self.answer(id, name or output, cells[output], f"{place}, row {number}")
                self.reference(id, cells.get(target), f"{place}, row {number}")


def _named(names: tuple[str, ...], cells: Mapping[str, Any]) -> str:
    """The first of these columns that is there."""
    return next((name for name in names if name in cells), "")


FORMATS = (log_format(_NAME, lambda request: _Tables(request, _NAME), _is_it),)
