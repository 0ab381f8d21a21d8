"""Grouping of texts on regions by the overlap of different annotators' regions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeGuard

Box = tuple[tuple[float, float], ...]  # an interval for each dimension
Placed = tuple[str, Any, list[str]]  # rater, place, texts


def overlapping(task: Mapping[str, Any], control: str, raters: Sequence[str]) -> list[dict[str, list[str]]]:
    """Groups of overlapping regions, each with every rater's texts.

    Regions belong to one group if they overlap directly or through others; a rater without a region in a group has an empty answer
    there. A task without any region is one group of empty answers.

    Parameters
    ----------
    task : mapping
        A task with its annotations.
    control : str
        A per-region TextArea.
    raters : sequence of str
        Raters whose answers count; of several annotations of one rater the newest counts.
    """
    placed = _placed(_newest(task, raters), control, raters)
    groups = []
    for members in _connected(placed):
        texts: dict[str, list[str]] = {rater: [] for rater in raters}
        for number in members:
            texts[placed[number][0]] += placed[number][2]
        groups.append(texts)
    return groups or [{rater: [] for rater in raters}]


def placed_groups(task: Mapping[str, Any], control: str, raters: Sequence[str]) -> list[dict[str, Any]]:
    """What the regions of each group of :func:`overlapping` are, in the same order.

    Parameters
    ----------
    task, control, raters
        As for :func:`overlapping`.

    Returns
    -------
    list of dict
        ``label`` (the most frequent label of the group's regions, or empty), ``where`` (the first region's extent in words), ``boxes`` (the extents of
        the regions, where they are boxes: left, top, width, height in percent) and ``raters`` (who drew one).
    """
    newest = _newest(task, raters)
    labels = {rater: _labels_of_regions(annotation) for rater, annotation in newest.items()}
    placed = _placed(newest, control, raters)
    ids = [
        region.get("id")
        for rater in raters
        if rater in newest
        for region in newest[rater].get("result") or []
        if isinstance(region, Mapping) and _is_text(region, control)
    ]
    found = []
    for members in _connected(placed):
        own = Counter(label for n in members if (label := labels[placed[n][0]].get(ids[n])))
        found.append(
            {
                "label": next((label for label, _ in own.most_common(1)), ""),
                "where": _in_words(placed[members[0]][1]),
                "boxes": [[placed[n][0], *box] for n in members if (box := _box(placed[n][1]))],
                "raters": list(dict.fromkeys(placed[n][0] for n in members)),
            }
        )
    return found


def _newest(task: Mapping[str, Any], raters: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Each rater's newest annotation."""
    newest: dict[str, Mapping[str, Any]] = {}
    for annotation in task.get("annotations") or []:
        rater = _rater(annotation)
        if rater in raters and not annotation.get("was_cancelled"):
            newest[rater] = max(newest.get(rater, annotation), annotation, key=_age)
    return newest


def _placed(newest: Mapping[str, Mapping[str, Any]], control: str, raters: Sequence[str]) -> list[Placed]:
    return [(rater, *region) for rater in raters if rater in newest for region in _regions(newest[rater], control)]


def _labels_of_regions(annotation: Mapping[str, Any]) -> dict[Any, str]:
    """Id of a region -> its label."""
    found: dict[Any, str] = {}
    for entry in annotation.get("result") or []:
        value = entry.get("value") if isinstance(entry, Mapping) else None
        kind = entry.get("type") if isinstance(entry, Mapping) else None
        given = (
            value.get(kind)
            if isinstance(value, Mapping) and isinstance(kind, str) and kind.endswith("labels")
            else None
        )
        if isinstance(given, list) and given and isinstance(given[0], str):
            found[entry.get("id")] = given[0][:60]
    return found


def _in_words(place: Any) -> str:
    """Where a region is."""
    _, kind, extent = place
    if kind == "box":
        (left, right), (top, bottom) = extent[:2]
        return f"{left:.0f} to {right:.0f}% across, {top:.0f} to {bottom:.0f}% down"
    if kind.startswith("interval"):
        return f"{extent[0][0]:g} to {extent[0][1]:g}"
    return ""


def _box(place: Any) -> list[float] | None:
    _, kind, extent = place
    if kind != "box":
        return None
    (left, right), (top, bottom) = extent[:2]
    return [round(value, 1) for value in (left, top, right - left, bottom - top)]


def _rater(annotation: Any) -> str:
    value = annotation.get("completed_by") if isinstance(annotation, Mapping) else None
    return str(value.get("id", value.get("email")) if isinstance(value, Mapping) else value)


def _age(annotation: Mapping[str, Any]) -> tuple[str, str, int]:
    number = annotation.get("id")
    return (
        str(annotation.get("updated_at") or ""),
        str(annotation.get("created_at") or ""),
        number if isinstance(number, int) else 0,
    )


def _regions(annotation: Mapping[str, Any], control: str) -> list[tuple[Any, list[str]]]:
    found = []
    for region in annotation.get("result") or []:
        if isinstance(region, Mapping) and _is_text(region, control):
            value = region["value"]
            text = value.get("text")
            texts = [part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str)]
            found.append(((str(region.get("to_name")), *_place(value, region)), texts))
    return found


def _is_text(region: Mapping[str, Any], control: str) -> bool:
    return (
        region.get("type") == "textarea"
        and region.get("from_name") == control
        and isinstance(region.get("value"), Mapping)
    )


def _place(value: Mapping[str, Any], region: Mapping[str, Any]) -> tuple[str, Any]:
    """Kind of region and its extent; a region with an unknown extent overlaps only the region of the same id."""
    offsets = value.get("globalOffsets")
    if isinstance(offsets, Mapping):  # HyperText: start and end are paths into the page
        value = {"start": offsets.get("start"), "end": offsets.get("end")}
    start, end = value.get("start"), value.get("end")
    if _is_number(start) and _is_number(end):
        return f"interval {value.get('channel')}", ((float(start), float(end)),)
    if str(start).isdigit() and str(end).isdigit() and _is_number(value.get("startOffset")):  # Paragraphs
        first = float(str(start)) * 1e6 + value["startOffset"]
        last = float(str(end)) * 1e6 + float(value.get("endOffset") or 0)
        return "paragraphs", ((first, last),)
    x, y = value.get("x"), value.get("y")
    if _is_number(x) and _is_number(y):
        if _is_number(value.get("radiusX")) and _is_number(value.get("radiusY")):
            half = value["radiusX"], value["radiusY"]
            return "box", ((x - half[0], x + half[0]), (y - half[1], y + half[1]))
        width, height = value.get("width"), value.get("height")
        width = width if _is_number(width) else 0.0
        height = height if _is_number(height) else width
        return "box", ((x, x + width), (y, y + height))
    points = value.get("points")
    if isinstance(points, list) and points and all(_is_point(point) for point in points):
        return "box", tuple((min(axis), max(axis)) for axis in zip(*(point[:2] for point in points), strict=True))
    return "id", region.get("id")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= 2 and _is_number(value[0]) and _is_number(value[1])


def _overlap(one: Any, other: Any) -> bool:
    (object_a, kind_a, extent_a), (object_b, kind_b, extent_b) = one, other
    if (object_a, kind_a) != (object_b, kind_b):
        return False
    if kind_a == "id" or extent_a == extent_b:
        return bool(extent_a == extent_b)
    return all(max(a[0], b[0]) < min(a[1], b[1]) for a, b in zip(extent_a, extent_b, strict=True))


def _connected(placed: Sequence[Placed]) -> list[list[int]]:
    """Connected groups of regions, in order of their first member."""
    parent = list(range(len(placed)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for a, b in combinations(range(len(placed)), 2):
        if _overlap(placed[a][1], placed[b][1]):
            parent[max(root(a), root(b))] = min(root(a), root(b))
    groups: dict[int, list[int]] = {}
    for number in range(len(placed)):
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())
