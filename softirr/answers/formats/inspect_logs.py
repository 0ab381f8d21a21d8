"""Logs of Inspect (inspect_ai): ``.eval`` archives and JSON, one for each model; epochs are runs of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from softirr.answers.archives import Folder, unpacked
from softirr.answers.evaluations import Evaluation
from softirr.answers.gathered import Records, Request, Tables
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows
from softirr.answers.source import Source
from softirr.errors import InputError

__all__ = ["FORMATS"]

_NAME = "inspect-log"
_ATTACHMENT = "attachment://"
_HEADERS = ("header.json", "start.json")
"""Of a finished log, and of one that was interrupted."""


def _is_it(record: Mapping[str, Any]) -> bool:
    spec = record.get("eval")
    return isinstance(spec, Mapping) and "model" in spec and "task" in spec


def _has_samples(record: Mapping[str, Any]) -> bool:
    return _is_it(record) and isinstance(record.get("samples"), list)


def _read(records: Records, request: Request) -> Tables:
    evaluation = Evaluation(request, _NAME)
    _keep_log(records, request, evaluation)
    return evaluation.tables()


def _keep_log(records: Records, request: Request, evaluation: Evaluation) -> None:
    for place, record in request.checked(records, _has_samples, "a log of Inspect with eval and samples"):
        for sample in record["samples"]:
            _keep(sample, record["eval"]["model"], place, evaluation)


def _keep(sample: Any, model: Any, place: str, evaluation: Evaluation) -> None:
    if not isinstance(sample, Mapping) or not isinstance(output := sample.get("output"), Mapping):
        raise InputError(f"{place}: a sample has no output.")
    item, epoch = sample.get("id"), sample.get("epoch") or 1
    if not isinstance(epoch, int):
        raise InputError(f"{place}: the epoch of a sample is no number.")
    text = _completion(output, sample.get("attachments"), place)
    evaluation.answer(item, model, text, place, run=epoch, failed=sample.get("error") is not None)
    evaluation.reference(item, sample.get("target"), place)


def _completion(output: Mapping[str, Any], attachments: Any, place: str) -> Any:
    """The answer in the output of a sample; a long one is an attachment."""
    text = output.get("completion")
    if text is None and output.get("choices"):
        try:
            text = output["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            raise InputError(f"{place}: the first choice of an output has no message.") from None
    if isinstance(text, str) and text.startswith(_ATTACHMENT):
        text = attachments.get(text.removeprefix(_ATTACHMENT)) if isinstance(attachments, Mapping) else None
        if text is None:
            raise InputError(f"{place}: an answer is an attachment that is not in the log.")
    return text


def _is_folder(folder: Folder) -> bool:
    if folder.ending(".eval"):
        return True
    headers = [path for path in folder.files if path.name in _HEADERS or path in folder.tables]
    return bool(headers) and any(_is_it(folder.first_record(path)) for path in headers[:2])


def _read_folder(folder: Folder, request: Request) -> Tables:
    evaluation = Evaluation(request, _NAME)
    _keep_folder(folder, request, evaluation)
    return evaluation.tables()


def _keep_folder(folder: Folder, request: Request, evaluation: Evaluation) -> None:
    """The samples of an unpacked log, or of all logs of a folder."""
    for path in folder.ending(".eval"):
        with unpacked(Source(path)) as inner:
            _keep_folder(Folder.of(inner, str(path), folder.open), replace(request, name=str(path)), evaluation)
    headers = folder.called(*_HEADERS)
    if headers:
        spec = folder.first_record(headers[-1]).get("eval") or {}
        for path in folder.files:
            if path.parent.name == "samples":
                for _, sample in _records(folder, path):
                    _keep(sample, spec.get("model"), f"{request.name}, {path.name}", evaluation)
        return
    for path in folder.tables:
        _keep_log(_records(folder, path), replace(request, name=str(path)), evaluation)


def _records(folder: Folder, path: Any) -> Records:
    content = folder.open(path)
    if isinstance(content, Rows):
        raise InputError(f"{path} is no log of Inspect.")
    return content


FORMATS = (Format(_NAME, records=Ways(_is_it, _read), folder=Ways(_is_folder, _read_folder)),)
