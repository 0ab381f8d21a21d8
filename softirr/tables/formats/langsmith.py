"""LangSmith: examples of a dataset with the runs of experiments, as the API gives them (``/datasets/{id}/runs``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from softirr.errors import InputError
from softirr.tables.evaluations import Evaluation
from softirr.tables.gathered import Records, Request, Tables, chosen_texts
from softirr.tables.registry import Example, Format, Ways

__all__ = ["FORMATS"]

_NAME = "langsmith"


def _is_it(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("runs"), list) and isinstance(record.get("inputs"), Mapping) and "id" in record


def _read(records: Records, request: Request) -> Tables:
    """The answers in the output field asked for, or in the only one with texts."""
    kept: list[tuple[Mapping[str, Any], str]] = []
    for line, record in records:
        if not isinstance(record, Mapping) or not _is_it(record):
            raise InputError(f"{request.line(line)}: expected an example of LangSmith with inputs and runs.")
        kept.append((record, request.line(line)))
    names = dict.fromkeys(name for record, place in kept for run in record["runs"] for name in _texts(run, place))
    tables: Tables = {}
    for field in chosen_texts(request, tuple(names), "output"):
        evaluation = Evaluation(request, _NAME)
        for record, place in kept:
            _keep(record, field, place, evaluation)
        tables |= evaluation.tables(field)
    return tables


def _outputs(entry: Any, place: str) -> Mapping[str, Any]:
    """Outputs of a run or an example by their names."""
    outputs = (entry.get("outputs") if isinstance(entry, Mapping) else None) or {}
    if not isinstance(outputs, Mapping):
        raise InputError(f"{place}: the outputs of a run or an example have no names.")
    return outputs


def _texts(entry: Any, place: str) -> Iterator[str]:
    """Names of the outputs of a run or an example that are texts."""
    yield from (str(name) for name, value in _outputs(entry, place).items() if isinstance(value, str))


def _keep(record: Mapping[str, Any], field: str, place: str, evaluation: Evaluation) -> None:
    seen: dict[str, int] = {}
    for run in record["runs"]:
        model = (run.get("session_name") or run.get("session_id")) if isinstance(run, Mapping) else None
        if not isinstance(model, str):
            raise InputError(f"{place}: a run does not name its experiment (session_name or session_id).")
        seen[model] = seen.get(model, 0) + 1
        failed = bool(run.get("error"))
        text = _outputs(run, place).get(field)
        evaluation.answer(record["id"], model, text, place, run=seen[model], failed=failed)
    own = list(_texts(record, place))
    name = field if field in own else own[0] if len(own) == 1 else ""
    evaluation.reference(record["id"], _outputs(record, place).get(name), place)


FORMATS = (
    Format(
        _NAME,
        (
            Example(
                "LangSmith",
                "API, JSON of examples with runs",
                "langsmith.json",
                "examples; each experiment is a rater `model:EXPERIMENT`, its repetitions `model:EXPERIMENT#N`, and "
                "the output of the example is the rater `reference`; `--text` chooses an output; runs with an error "
                "are left out with the reason",
            ),
        ),
        records=Ways(_is_it, _read),
    ),
)
