"""LightTag's results (JSON): classes of examples, or tags of passages, each with the annotators who gave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from softirr.answers.gathered import Records, Request, Tables, chosen_texts, gathered_tables
from softirr.answers.registry import Format, Ways
from softirr.answers.segments import Segment, segment_tables
from softirr.errors import InputError
from softirr.plural import plural
from softirr.text import is_blank

__all__ = ["FORMATS"]

_Examples = Sequence[tuple[str, Mapping[str, Any]]]
"""Place and content of each example."""


def _has_examples(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("examples"), list)


def _is_it(record: Mapping[str, Any]) -> bool:
    first = record["examples"][:1] if _has_examples(record) and "schema" in record else [None]
    return all(isinstance(one, Mapping) and "example_id" in one for one in first)


def _read(records: Records, request: Request) -> Tables:
    """The classes of examples, or the tags of passages; ``text`` chooses where a job has both."""
    examples: list[tuple[str, Any]] = []
    for _, record in request.checked(records, _has_examples, "the results of a job of LightTag, with examples"):
        examples += [
            (f"{request.name}, example {number}", one) for number, one in enumerate(record["examples"], start=1)
        ]
    for place, one in examples:
        if not isinstance(one, Mapping) or not one.get("example_id"):
            raise InputError(f"{place}: expected an example of LightTag, with example_id.")
    kinds = {"class": "classifications", "tag": "annotations"}
    names = [name for name, key in kinds.items() if any(one.get(key) for _, one in examples)]
    readers = {"class": _classes, "tag": _tags}
    return {name: readers[name](examples, request) for name in chosen_texts(request, names, "kind of annotation")}


def _classes(examples: _Examples, request: Request) -> Any:
    """A set of classes for each annotator of an example; who saw an example and gave no class has an empty answer."""
    gathered = request.gathered(empty="missing", repeats="set")
    for place, one in examples:
        item, given = str(one["example_id"]), dict[str, list[str]]()
        for entry in _entries(one, "classifications", place):
            for rater in _annotators(entry, "classified_by", place):
                given.setdefault(rater, []).append(_text(entry, "classname", place))
        for rater in _annotators(one, "seen_by", place) if one.get("seen_by") else ():
            given.setdefault(rater, [])
        gathered.miss(item)
        for rater, classes in given.items():
            gathered.add(item, rater, tuple(classes) or None, place)
    notes = []
    if gathered.blank and request.options.empty is None:
        notes.append(
            f"{plural(gathered.blank, 'time')} an annotator saw an example and gave no class, which counts as a "
            "missing answer. If it means that no class applies, say --empty none."
        )
    return gathered_tables(request, "lighttag", {"class": gathered}, n_rows=len(examples), notes=notes)["class"]


def _tags(examples: _Examples, request: Request) -> Any:
    """A passage for each tag and annotator."""
    segments = [
        Segment(str(one["example_id"]), rater, _text(entry, "tag", place), *_span(entry, place))
        for place, one in examples
        for entry in _entries(one, "annotations", place)
        for rater in _annotators(entry, "annotated_by", place)
    ]
    return segment_tables(segments, request, "lighttag")["code"]


def _entries(one: Mapping[str, Any], key: str, place: str) -> Iterator[Mapping[str, Any]]:
    entries = one.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise InputError(f"{place}: {key} is not a list.")
    yield from entries


def _annotators(entry: Mapping[str, Any], key: str, place: str) -> list[str]:
    by = entry.get(key)
    names = [
        (one.get("annotator") or one.get("annotator_id")) if isinstance(one, Mapping) else None
        for one in (by if isinstance(by, list) else ())
    ]
    if not names or any(name is None or is_blank(str(name)) for name in names):
        raise InputError(f"{place}: {key} names no annotator.")
    return [str(name) for name in names]


def _text(entry: Mapping[str, Any], key: str, place: str) -> str:
    text = entry.get(key)
    if not isinstance(text, str) or is_blank(text):
        raise InputError(f"{place}: {key} is no text.")
    return text


def _span(entry: Mapping[str, Any], place: str) -> tuple[int, int]:
    start, end = entry.get("start"), entry.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise InputError(f"{place}: a tag has no start and end.")
    return start, end


FORMATS = (Format("lighttag", records=Ways(_is_it, _read)),)
