"""Texts on regions: regions of several annotators are matched one to one by their overlap."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from softirr.answers.answer import MODEL
from softirr.answers.labelstudio import age, copied, user_id
from softirr.answers.labelstudio_results import mappings
from softirr.answers.region_overlap import TooManyRegions, match_regions
from softirr.answers.regions import Region, region_of
from softirr.text import normalize

MOST_REGIONS = 300
"""Maximum number of regions of a task with positions stored for the panel."""
LONGEST_QUOTE = 200


def region_rows(task: Mapping[str, Any], control: str, raters: Sequence[str]) -> list[dict[str, Any]]:
    """Each region that a text belongs to: its position, its rater, and its ids in Label Studio.

    Parameters
    ----------
    task : mapping
        A task with its annotations and, if models are raters, its predictions.
    control : str
        A per-region TextArea.
    raters : sequence of str
        Raters to include. If a rater has several annotations, the newest counts.

    Returns
    -------
    list of dict
        ``rater``, ``texts``, ``label``, ``where``, ``box`` (left, top, width and height in percent, or None), ``ratio``
        (of the image's width to its height, or None), ``quote`` (the marked text), ``place`` (number of the group of
        overlapping regions), ``annotation`` and ``region`` (ids).
    """
    newest = _newest(task, control, raters)
    regions = [region for rater in raters if rater in newest for region in _regions(rater, newest[rater], control)]
    if len(regions) > MOST_REGIONS:
        return []
    try:
        groups = match_regions([(row["rater"], region) for region, row in regions])
    except TooManyRegions:
        return []
    return [
        {**regions[number][1], "place": group_number}
        for group_number, members in enumerate(groups)
        for number in members
    ]


def _ratio(result: Mapping[str, Any]) -> float | None:
    width, height = result.get("original_width"), result.get("original_height")
    return width / height if _is_number(width) and _is_number(height) and width > 0 < height else None


def _quotes(annotation: Mapping[str, Any]) -> dict[str, str]:
    """Id of a region -> the text that it marks."""
    return {
        str(result.get("id")): result["value"]["text"][:LONGEST_QUOTE]
        for result in mappings(annotation.get("result"))
        if result.get("type") != "textarea"
        and isinstance(result.get("value"), Mapping)
        and isinstance(result["value"].get("text"), str)
    }


def _newest(task: Mapping[str, Any], control: str, raters: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Each rater's newest annotation that counts, by the rules of `softirr.answers.labelstudio.raw_answers`."""
    newest: dict[str, Mapping[str, Any]] = {}
    for annotation in mappings(task.get("annotations")):
        rater = user_id(annotation.get("completed_by")) or ""
        if rater in raters and not annotation.get("was_cancelled") and not copied(annotation, control):
            newest[rater] = max(newest.get(rater, annotation), annotation, key=age)
    for prediction in mappings(task.get("predictions")):
        rater = f"{MODEL}{prediction.get('model_version') or ''}"
        if rater in raters:
            newest[rater] = max(newest.get(rater, prediction), prediction, key=age)
    return newest


def _labels_of_regions(annotation: Mapping[str, Any]) -> dict[str, str]:
    """Id of a region -> its label."""
    labels: dict[str, str] = {}
    for entry in mappings(annotation.get("result")):
        kind, value = str(entry.get("type")), entry.get("value")
        names = value.get(kind) if isinstance(value, Mapping) and kind.endswith("labels") else None
        if isinstance(names, list) and names and isinstance(names[0], str):
            labels[str(entry.get("id"))] = names[0][:60]
    return labels


def turn_in_words(turn: int) -> str:
    """Return what people call a turn of a dialogue, which Label Studio counts from 0."""
    return f"turn {turn + 1}"


def _in_words(region: Region) -> str:
    """Where a region is."""
    if (bounds := region.bounds) is not None:
        x, top, right, bottom = bounds
        return f"{x:.0f} to {right:.0f}% across, {top:.0f} to {bottom:.0f}% down"
    if region.kind == "turn":
        return turn_in_words(region.extent)
    if region.kind == "span" and region.extent[1] < 1e6:
        return f"{region.extent[0]:g} to {region.extent[1]:g}"
    return ""


def _box(region: Region) -> tuple[float, float, float, float] | None:
    if (bounds := region.bounds) is None:
        return None
    x, top, right, bottom = bounds
    return round(x, 1), round(top, 1), round(right - x, 1), round(bottom - top, 1)


def _regions(rater: str, annotation: Mapping[str, Any], control: str) -> Iterator[tuple[Region, dict[str, Any]]]:
    """Yield the regions with texts in an annotation, each with its row but the number of its group."""
    labels, quotes = _labels_of_regions(annotation), _quotes(annotation)
    for result in mappings(annotation.get("result")):
        id, value = result.get("id"), result.get("value")
        if result.get("type") != "textarea" or result.get("from_name") != control or not isinstance(value, Mapping):
            continue
        text = value.get("text")
        texts = [line for line in (text if isinstance(text, list) else [text]) if isinstance(line, str)]
        region = region_of(result) or Region("whole", (str(result.get("to_name")),), str(id))
        yield (
            region,
            {
                "rater": rater,
                "texts": [text for text in map(normalize, texts) if text],
                "label": labels.get(str(id), ""),
                "where": _in_words(region),
                "box": _box(region),
                "ratio": _ratio(result),
                "quote": quotes.get(str(id), ""),
                "annotation": annotation.get("id"),
                "region": id,
            },
        )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
