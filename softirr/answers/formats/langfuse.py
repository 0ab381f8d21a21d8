"""Langfuse: scores of annotators and generations of models, from the blob storage export or the API's pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from softirr.answers.archives import Folder
from softirr.answers.evaluations import Evaluation, log_format
from softirr.answers.gathered import Records, Request, Tables, chosen_texts
from softirr.errors import InputError

__all__ = ["FORMATS"]

_NAME = "langfuse"
_SOURCES = ("API", "ANNOTATION", "EVAL")
_TEXTS = ("TEXT", "CATEGORICAL", "CORRECTION")
_OUTPUT = "output"


@dataclass
class _Export:
    """Scores with a text, and generations, each with the place where it is."""

    request: Request
    scores: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    generations: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    n_other: int = 0
    """Scores that are no texts, such as numbers."""

    def add(self, records: Records, request: Request, name: str | None) -> None:
        """The records of a file: rows of the export, or pages of the API."""
        for line, record in records:
            place = request.line(line)
            for one in _entries(record):
                kind = _kind(one)
                if kind is None:
                    raise InputError(f"{place}: expected scores, observations or traces of Langfuse.")
                if kind == "score" and _value(one, "data_type") in _TEXTS:
                    self.scores.append((one, place))
                elif kind == "score":
                    self.n_other += 1
                elif kind == "observation" and one["type"] == "GENERATION":
                    self.generations.append((one, place))

    def tables(self) -> Tables:
        """A table for each of the scores asked for; the outputs of models are in each of them."""
        request = self.request
        if not self.scores and not self.generations:
            raise InputError(f"{request.name} has no scores with texts and no generations.")
        names = dict.fromkeys(str(score.get("name")) for score, _ in self.scores) or {_OUTPUT: None}
        return self._tables(chosen_texts(request, tuple(names), "score"))

    def _tables(self, names: tuple[str, ...]) -> Tables:
        items = self._items()
        notes = (f"Scores that are not texts, left out: {self.n_other:,}.",) if self.n_other else ()
        tables: Tables = {}
        for name in names:
            evaluation = Evaluation(self.request, _NAME)
            runs: dict[tuple[str, str], int] = {}
            for one, place in self.generations:
                item, model = _item_of(one), _value(one, "provided_model_name") or one.get("model")
                runs[item, str(model)] = run = runs.get((item, str(model)), 0) + 1
                failed = one.get("level") == "ERROR"
                evaluation.answer(item, model, _output(one.get("output")), place, run=run, failed=failed)
            annotators = set()
            for score, place in sorted(self.scores, key=lambda pair: str(pair[0].get("timestamp") or "")):
                if str(score.get("name")) != name:
                    continue
                item = next((items[id] for id in _targets(score) if id in items), _targets(score)[0])
                text = _value(score, "string_value")
                if score["source"] == "EVAL":
                    evaluation.answer(item, _value(score, "evaluator_id") or "evaluator", text, place)
                    continue
                author = _value(score, "author_user_id") or score["source"].lower()
                if not isinstance(author, str):
                    raise InputError(f"{place}: a score does not name its annotator.")
                if author == "annotation" and item in annotators:
                    raise InputError(
                        f"{place}: an item has several annotations, and the export does not name the annotators: "
                        "export scores with the field group score_provenance."
                    )
                annotators.add(item)
                evaluation.person(item, author, text, place)
            tables |= evaluation.tables(name, notes=notes)
        return tables

    def _items(self) -> dict[str, str]:
        """The item of each observation, and of each trace the item of its last generation."""
        items: dict[str, str] = {}
        for one, _ in sorted(self.generations, key=lambda pair: str(_value(pair[0], "start_time") or "")):
            for id in (_value(one, "trace_id"), one.get("id")):
                if isinstance(id, str):
                    items[id] = _item_of(one)
        return items


def _value(record: Mapping[str, Any], name: str) -> Any:
    """A value by its name in the export (``trace_id``), or in the API (``traceId``)."""
    first, *rest = name.split("_")
    return record[name] if name in record else record.get(first + "".join(part.title() for part in rest))


def _kind(record: Any) -> str | None:
    if not isinstance(record, Mapping):
        return None
    if record.get("source") in _SOURCES and "name" in record and isinstance(_value(record, "data_type"), str):
        return "score" if any(_targets(record)) else None
    if isinstance(_value(record, "trace_id"), str) and isinstance(record.get("type"), str) and "output" in record:
        return "observation"
    is_trace = {"id", "timestamp", "input", "output"} <= record.keys() and _value(record, "project_id") is not None
    return "trace" if is_trace else None


def _entries(record: Any) -> Iterator[Any]:
    """Entries of a page of the API, or the record itself."""
    is_page = isinstance(record, Mapping) and isinstance(record.get("data"), list) and "meta" in record
    yield from record["data"] if is_page else [record]


def _targets(score: Mapping[str, Any]) -> list[str]:
    """Observation, trace or session that a score is about, the narrowest first."""
    ids = [_value(score, name) for name in ("observation_id", "trace_id", "session_id")]
    return [id for id in ids if isinstance(id, str) and id]


def _item_of(observation: Mapping[str, Any]) -> str:
    """The input of a generation; without one, its trace."""
    value = observation.get("input")
    if value is None or value == "":
        return str(_value(observation, "trace_id"))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _output(value: Any) -> Any:
    """The text of an output: of a message its content."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            message = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return message["content"] if _is_message(message) else value
    return value["content"] if _is_message(value) else value


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and isinstance(value.get("content"), str)


def _is_it(record: Mapping[str, Any]) -> bool:
    return _kind(next(_entries(record), None)) in ("score", "observation")


def _is_folder(folder: Folder) -> bool:
    kinds = [_kind(next(_entries(folder.first_record(path)), None)) for path in folder.ending(".json", ".jsonl")]
    return None not in kinds and not {"score", "observation"}.isdisjoint(kinds)


FORMATS = (log_format(_NAME, _Export, _is_it, what="exports of Langfuse", is_folder=_is_folder),)
