"""When a project's label config had which TextArea: an annotation that could not have held one is missing, not empty.

Times are Label Studio's own: the newest change of any task when a label config was seen for the first time.
"""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio.tasks import exact
from softirr.answers.labelstudio_results import mappings

OTHER_CONFIG = "answered under another label config, to a TextArea that it no longer has"
NO_SUCH_CONTROL = "answered while the label config did not have this TextArea"

Times = Sequence[Sequence[str | None]]
"""Pairs (since, until): after the first date and up to the second; None for always."""
History = Mapping[str, Times]
"""TextArea -> when the label config had it."""


def has_now(history: History) -> set[str]:
    """The TextAreas of the newest label config."""
    return {name for name, times in history.items() if times and times[-1][1] is None}


def with_controls(history: History, names: Collection[str], now: str) -> dict[str, list[list[str | None]]]:
    """The history, with a label config that has these TextAreas from `now` on."""
    periods = {name: [list(pair) for pair in times] for name, times in history.items()}
    current = has_now(history)
    for name in current - set(names):
        periods[name][-1][1] = now
    for name in set(names) - current:
        periods.setdefault(name, []).append([now, None])
    return periods


def was_there(times: Times, moment: str) -> bool:
    """Whether the label config had the TextArea at this time; True if the time can't be read."""
    with contextlib.suppress(ValueError):
        exact_moment = exact(moment)
        return any(
            (since is None or exact_moment > since) and (until is None or exact_moment <= until)
            for since, until in times
        )
    return True


def could_not_hold(
    annotation: Mapping[str, Any], control: str, names: frozenset[str] | None, times: Times | None
) -> str:
    """Why an annotation without a result of the control could not have held one; empty if it could, or has one."""
    if names is None or any(entry.get("from_name") == control for entry in mappings(annotation.get("result"))):
        return ""
    texts = {
        entry["from_name"]
        for entry in mappings(annotation.get("result"))
        if entry.get("type") == "textarea" and isinstance(entry.get("from_name"), str)
    }
    if texts - names:
        return f"{OTHER_CONFIG} ({', '.join(sorted(texts - names))})"
    changed = annotation.get("updated_at") or annotation.get("created_at")
    is_late = times is not None and isinstance(changed, str) and not was_there(times, changed)
    return NO_SUCH_CONTROL if is_late else ""
