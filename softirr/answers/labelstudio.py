"""Answers in the tasks of Label Studio: which annotations count, for an export as for a project."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from softirr.answers.kinds import CONTROL_KINDS, value_text
from softirr.answers.table import (
    AGREED,
    COPIED,
    COPIED_AND_EDITED,
    DRAFT,
    MODEL,
    NEWER_DUPLICATE,
    NO_RATER,
    OLDER_DUPLICATE,
    SKIPPED,
    Answer,
    Excluded,
)
from softirr.errors import InputError
from softirr.text import normalize

__all__ = [
    "AGREED_ID",
    "AGREEMENT_VERSION",
    "CONSENSUS_VERSION",
    "annotations_of",
    "control_kind",
    "control_texts",
    "copied",
    "field_controls",
    "is_agreed_answer",
    "label_studio_answers",
    "label_studio_fields",
    "mappings",
    "task_id",
    "text_controls",
    "textareas",
]

AGREEMENT_VERSION = "agreement"
"""``model_version`` of our own predictions: never a rater."""
AGREED_ID = "softirr-agreed-"
"""Prefix of the ids of the results of an agreed answer, which a reviewer saved from the agreement panel."""
CONSENSUS_VERSION = "consensus"
"""``model_version`` of predictions that hold the agreed answers of a project: never a rater either."""


def label_studio_answers(
    task: Mapping[str, Any], *, control: str | None, predictions_as_raters: bool = False, oldest: bool = False
) -> tuple[list[Answer], list[Excluded]]:
    """Answers in one task of a Label Studio JSON export or of its API, and those that don't count.

    Skipped annotations, drafts, answers copied from a prediction and older answers of one rater are excluded with the
    reason.

    Parameters
    ----------
    task : mapping
        With ``id``, ``annotations`` and, where present, ``drafts`` and ``predictions``.
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.
    predictions_as_raters : bool
        Count each model version's newest prediction as the answer of a rater ``model:VERSION``.
    oldest : bool
        Of several answers of one rater, take the oldest instead of the newest.

    Returns
    -------
    tuple of (list of Answer, list of Excluded)
    """
    sources = _Sources(task, predictions_as_raters=predictions_as_raters, oldest=oldest)
    return sources.answers([list(textareas(source, control)) for source in sources.given], {})


def label_studio_fields(
    task: Mapping[str, Any],
    *,
    controls: Iterable[str],
    predictions_as_raters: bool = False,
    older: Mapping[int, str] | None = None,
) -> dict[str, tuple[list[Answer], list[Excluded]]]:
    """Answers to several controls, as :func:`label_studio_answers` gives them for each, in one pass over the task.

    Parameters
    ----------
    task : mapping
    controls : iterable of str
        Names of controls that are no TextAreas.
    predictions_as_raters : bool
    older : mapping of int to str, optional
        Why an annotation, by its position, is excluded from each control that it has no result of.

    Returns
    -------
    dict of str to tuple of (list of Answer, list of Excluded)
    """
    sources = _Sources(task, predictions_as_raters=predictions_as_raters)
    by_source: list[dict[str, list[Mapping[str, Any]]]] = []
    for source in sources.given:
        regions: dict[str, list[Mapping[str, Any]]] = {}
        for region in mappings(source.get("result")):
            name = region.get("from_name")
            if isinstance(name, str) and control_kind(region):
                regions.setdefault(name, []).append(region)
        by_source.append(regions)
    return {name: sources.answers([own.get(name, []) for own in by_source], older or {}) for name in controls}


class _Sources:
    """The annotations and predictions of a task, and what is the same for all of its controls."""

    def __init__(self, task: Mapping[str, Any], *, predictions_as_raters: bool, oldest: bool = False) -> None:
        self._item, self._oldest = task_id(task), oldest
        self.given = list(mappings(task.get("annotations")))
        self._raters = [_user(annotation.get("completed_by")) for annotation in self.given]
        self._n_annotations = len(self.given)
        drafts = mappings(task.get("drafts"))
        self._drafts = [Excluded(self._item, _user(draft.get("user")) or "", DRAFT) for draft in drafts]
        for prediction in mappings(task.get("predictions")) if predictions_as_raters else ():
            version = prediction.get("model_version") or ""
            if version not in (AGREEMENT_VERSION, CONSENSUS_VERSION):
                self.given.append(prediction)
                self._raters.append(f"{MODEL}{version}")

    def answers(
        self, regions: Sequence[Sequence[Mapping[str, Any]]], older: Mapping[int, str]
    ) -> tuple[list[Answer], list[Excluded]]:
        """The answers to one control, given the results of each source."""
        item = self._item
        newest: dict[str, int] = {}
        excluded: list[Excluded] = []
        last: list[Excluded] = []
        for position, (source, rater, own) in enumerate(zip(self.given, self._raters, regions, strict=True)):
            if position == self._n_annotations:
                excluded += self._drafts
            if position < self._n_annotations:
                if is_agreed_answer(source):
                    excluded.append(Excluded(item, rater or "", AGREED))
                    continue
                if source.get("was_cancelled"):
                    excluded.append(Excluded(item, rater or "", SKIPPED))
                    continue
                if not own and position in older:
                    last.append(Excluded(item, rater or "", older[position]))
                    continue
                if rater is None:
                    excluded.append(Excluded(item, "", NO_RATER))
                    continue
                if why := _copied(source, own):
                    excluded.append(Excluded(item, rater, why))
                    continue
            assert rater is not None
            if rater in newest:
                excluded.append(Excluded(item, rater, NEWER_DUPLICATE if self._oldest else OLDER_DUPLICATE))
                choose = min if self._oldest else max
                position = choose(position, newest[rater], key=lambda at: _age(self.given[at]))
            newest[rater] = position
        if len(self.given) == self._n_annotations:
            excluded += self._drafts
        return [Answer(item, rater, _texts(regions[at])) for rater, at in newest.items()], excluded + last


def text_controls(tasks: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """``from_name`` of every TextArea that has a result in the tasks' annotations, in order of appearance.

    Parameters
    ----------
    tasks : iterable of mapping

    Returns
    -------
    tuple of str
    """
    names = (region.get("from_name") for one in annotations_of(tasks) for region in textareas(one, None))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def annotations_of(tasks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All annotations of tasks.

    Parameters
    ----------
    tasks : iterable of mapping

    Yields
    ------
    mapping
    """
    return (annotation for task in tasks for annotation in mappings(task.get("annotations")))


def control_kind(region: Mapping[str, Any]) -> str | None:
    """Kind of the control that a result is of; None for text areas and everything else.

    Parameters
    ----------
    region : mapping
        A result; its ``type`` may be anything that somebody imported.

    Returns
    -------
    str or None
    """
    type_ = region.get("type")
    return CONTROL_KINDS.get(type_) if isinstance(type_, str) else None


def field_controls(tasks: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Kind of each control that is no text area and has a result in the tasks' annotations, in order of appearance.

    Choices are a set where an annotation has several, and rankings are one where there are several buckets.

    Parameters
    ----------
    tasks : iterable of mapping

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> result = [{"type": "choices", "from_name": "side", "value": {"choices": ["left", "right"]}}]
    >>> field_controls([{"annotations": [{"result": result}]}])
    {'side': 'set'}
    """
    kinds: dict[str, str] = {}
    for annotation in annotations_of(tasks):
        seen = Counter[str]()
        for region in mappings(annotation.get("result")):
            name, kind = region.get("from_name"), control_kind(region)
            if not isinstance(name, str) or kind is None:
                continue
            kind = kinds.setdefault(name, kind)
            seen[name] += len(_value_texts(region))
            if (kind == "nominal" and seen[name] > 1) or (kind == "ranking" and _has_buckets(region)):
                kinds[name] = "set"
    return kinds


def _buckets(region: Mapping[str, Any]) -> dict[str, list[str]]:
    """The things in each bucket of a ranking; those that were not sorted are left out."""
    value = region.get("value")
    given = value.get("ranker") if isinstance(value, Mapping) else None
    buckets = given if isinstance(given, Mapping) else {"": given}
    return {
        str(name): [str(one) for one in things if isinstance(one, str | int)]
        for name, things in buckets.items()
        if name != "_" and isinstance(things, list)
    }


def _has_buckets(region: Mapping[str, Any]) -> bool:
    """Whether things are sorted into buckets; a plain ranking is a list, or under the name of its control."""
    return not _buckets(region).keys() <= {"", region.get("from_name")}


def _value_texts(region: Mapping[str, Any]) -> list[str]:
    """The values of a result that is no text, as texts."""
    type_, value = region.get("type"), region.get("value")
    if not isinstance(value, Mapping):
        return []
    if type_ == "ranker":
        buckets = _buckets(region)
        if _has_buckets(region):
            return [f"{name}: {thing}" for name, things in buckets.items() for thing in things]
        return [" > ".join(things) for things in buckets.values() if things]
    given = value.get("selected" if type_ == "pairwise" else str(type_))
    texts = (
        " > ".join(map(str, one)) if isinstance(one, list) else one if isinstance(one, str) else value_text(one)
        for one in (given if isinstance(given, list) else [given])
    )
    return [text for text in texts if text]


def task_id(task: Mapping[str, Any]) -> str:
    """Id of a task as the name of an item.

    Parameters
    ----------
    task : mapping

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it has none.
    """
    if not isinstance(task.get("id"), int | str):
        raise InputError("A task of the export has no id.")
    return normalize(str(task["id"]))


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; exports have bare ids where objects were not asked for.

    Parameters
    ----------
    value : object

    Yields
    ------
    mapping
    """
    if isinstance(value, list):
        # JSON has dicts, which are found much faster than other mappings
        yield from (entry for entry in value if type(entry) is dict or isinstance(entry, Mapping))


def _user(value: Any) -> str | None:
    """Id of a user: Label Studio gives a number, an object or an email address."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("email"))
    return None if value is None or isinstance(value, bool) else normalize(str(value))


def textareas(source: Mapping[str, Any], control: str | None) -> Iterator[Mapping[str, Any]]:
    """Results of a TextArea, or of another control of :data:`softirr.answers.kinds.CONTROL_KINDS` that is named.

    Parameters
    ----------
    source : mapping
        An annotation or a prediction.
    control : str or None
        ``from_name`` of the control; None takes every TextArea.

    Yields
    ------
    mapping
    """
    for region in mappings(source.get("result")):
        type_, name = region.get("type"), region.get("from_name")
        if (type_ == "textarea" and control in (None, name)) or (control_kind(region) and control == name is not None):
            yield region


def control_texts(source: Mapping[str, Any], control: str | None) -> tuple[str, ...]:
    """All strings of a control: one result with several strings and several results with one are the same answer.

    Parameters
    ----------
    source : mapping
        An annotation or a prediction.
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.

    Returns
    -------
    tuple of str
    """
    return _texts(textareas(source, control))


def _texts(regions: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """All strings of these results."""
    texts: list[str] = []
    for region in regions:
        if region.get("type") != "textarea":
            texts += _value_texts(region)
            continue
        value = region.get("value")
        text = value.get("text") if isinstance(value, Mapping) else None
        texts.extend(part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str))
    return tuple(texts)


def copied(annotation: Mapping[str, Any], control: str | None) -> str | None:
    """Whether an annotation's answer was made from a prediction.

    ``COPIED``, ``COPIED_AND_EDITED``, or None where it was not.

    Parameters
    ----------
    annotation : mapping
    control : str or None
        ``from_name`` of the TextArea; None takes every TextArea.

    Returns
    -------
    str or None
    """
    return _copied(annotation, textareas(annotation, control))


def is_agreed_answer(annotation: Mapping[str, Any]) -> bool:
    """Return whether an annotation is an agreed answer from the agreement panel, and so nobody's own answer."""
    return any(str(region.get("id", "")).startswith(AGREED_ID) for region in mappings(annotation.get("result")))


def _copied(annotation: Mapping[str, Any], regions: Iterable[Mapping[str, Any]]) -> str | None:
    default = "prediction" if annotation.get("parent_prediction") else "manual"
    origins = {str(region.get("origin") or default) for region in regions}
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
