"""OpenAI evals: output items of the API's runs, and the logs of ``oaieval``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from softirr.answers.evaluations import Evaluation, log_format
from softirr.answers.gathered import Records, Request
from softirr.errors import InputError

__all__ = ["FORMATS"]

_NAME = "openai-evals"
_ITEM = "eval.run.output_item"
_REFERENCES = ("ideal", "expected", "reference", "ground_truth", "correct_label", "label", "answer")
"""Keys of an item's data that hold the reference; the first that is there counts."""


def _is_it(record: Mapping[str, Any]) -> bool:
    spec = record.get("spec")
    return (isinstance(spec, Mapping) and "completion_fns" in spec) or next(_items(record), None) is not None


def _items(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Output items of a page of the API's list, or the record itself."""
    yield from (one for one in _entries(record) if isinstance(one, Mapping) and one.get("object") == _ITEM)


def _entries(record: Mapping[str, Any]) -> list[Any]:
    entries = record.get("data") if record.get("object") == "list" else [record]
    return entries if isinstance(entries, list) else []


class _Log(Evaluation):
    def add(self, records: Records, request: Request, name: str | None) -> None:
        """Keep the output items or the matches of a file."""
        model = None
        for place, record in request.checked(records, lambda record: True, "an entry of a log of evals"):
            items = list(_items(record))
            if record.get("object") == "list" and len(items) < len(_entries(record)):
                raise InputError(f"{place}: an entry of the list is no output item.")
            for item in items:
                _keep_item(item, place, self)
            if isinstance(spec := record.get("spec"), Mapping):
                names = spec.get("completion_fns")
                model = "+".join(map(str, names)) if isinstance(names, list) else names
            elif record.get("type") == "match":
                data = record.get("data")
                if not isinstance(data, Mapping) or "sampled" not in data:
                    raise InputError(f"{place}: a match has no sampled answer.")
                sampled = data["sampled"]
                if isinstance(sampled, list) and len(sampled) == 1:
                    sampled = sampled[0]
                self.answer(record.get("sample_id"), model, sampled, place)
                self.reference(record.get("sample_id"), data.get("expected"), place)


def _keep_item(item: Mapping[str, Any], place: str, evaluation: Evaluation) -> None:
    sample, data = item.get("sample"), item.get("datasource_item")
    if not isinstance(sample, Mapping) or not isinstance(data, Mapping):
        raise InputError(f"{place}: an output item has no sample or no datasource_item.")
    output = sample.get("output") or []
    if not isinstance(output, list) or not all(isinstance(one, Mapping) for one in output):
        raise InputError(f"{place}: the output of a sample is not a list of messages.")
    failed = isinstance(error := sample.get("error"), Mapping) and bool(error.get("message"))
    id = item.get("datasource_item_id")
    evaluation.answer(id, sample.get("model"), output[-1].get("content") if output else None, place, failed=failed)
    own = data["item"] if isinstance(data.get("item"), Mapping) else data
    evaluation.reference(id, next((own[key] for key in _REFERENCES if key in own), None), place)


FORMATS = (log_format(_NAME, lambda request: _Log(request, _NAME), _is_it),)
