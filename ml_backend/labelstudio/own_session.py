"""Requests to Label Studio with a reviewer's session, so that what they save there is theirs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from ml_backend.auth.session_users import session_client
from ml_backend.labelstudio.config import Control, is_repeated
from ml_backend.labelstudio.errors import LabelStudioError, Unauthorized, Unreachable
from ml_backend.labelstudio.regions import turn_in_words
from softirr.answers.kinds import agreed_values
from softirr.answers.labelstudio import AGREED_ID, user_id
from softirr.answers.labelstudio_results import control_kind, control_values, mappings, name_in_turn, with_turns

_NUMBERS = ("rating", "number")


def text_results(controls: Sequence[Control], texts: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Build the results of agreed texts; a TextArea per region needs `region_results`, except for an empty answer.

    An empty answer has a result too: without one, the annotation would count as the reviewer's own answer.
    """
    return [
        {
            "id": f"{AGREED_ID}{control.name}",
            "from_name": name_in_turn(control.name, 0),
            "to_name": name_in_turn(control.to_name, 0),
            "type": "textarea",
            "origin": "prediction",
            "value": {"text": list(texts[control.name])},
        }
        for control in controls
        if control.name in texts and not (control.per_region and texts[control.name])
    ]


def copied_results(
    control: str, values: Sequence[str], raters: Sequence[str], annotations: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Build the results of another control, such as choices, from an annotation with the agreed values.

    Parameters
    ----------
    raters : sequence of str
        Annotators with these values; nobody has a median that lies between two answers.

    Raises
    ------
    LabelStudioError
        If no annotation has them any more.
    """
    of_control = [
        (
            user_id(annotation.get("completed_by")),
            [dict(result) for result in mappings(annotation.get("result")) if result.get("from_name") == control],
        )
        for annotation in annotations
        if not annotation.get("was_cancelled")
    ]
    results = next((results for user, results in reversed(of_control) if user in raters and results), None)
    if results is None:
        example = next(
            (result for _, results in of_control for result in results if result.get("type") in _NUMBERS), None
        )
        if example is None or len(values) != 1:
            raise LabelStudioError(f"The values of {control} have changed in Label Studio: look at the task again.")
        number = float(values[0])
        results = [{**example, "value": {example["type"]: int(number) if number.is_integer() else number}}]
    return [
        {**result, "id": f"{AGREED_ID}{control}-{index}", "origin": "prediction"}
        for index, result in enumerate(results, start=1)
    ]


def region_results(
    control: str,
    agreed_regions: Sequence[tuple[Mapping[str, Any], Sequence[str], Sequence[Mapping[str, Any]]]],
    annotations: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Copy annotators' regions with the agreed texts, and the choices and ratings that most of them give to a region.

    Parameters
    ----------
    control : str
        A per-region TextArea.
    agreed_regions : sequence of (mapping, sequence of str, sequence of mapping)
        Rows of `regions.region_rows`, the texts that the region gets, and the rows of all annotators' regions there.
    annotations : sequence of mapping
        The task's annotations as Label Studio has them now.

    Raises
    ------
    LabelStudioError
        If a region is gone.
    """
    with_names_of_config = with_turns({"annotations": list(annotations)}, [control])["annotations"]
    by_id = {annotation.get("id"): list(mappings(annotation.get("result"))) for annotation in with_names_of_config}
    results = []
    for number, (row, texts, members) in enumerate(agreed_regions, start=1):
        region_parts = _results_of(control, row, by_id)
        text = next((result for result in region_parts if result.get("from_name") == control), None)
        if text is None:
            raise LabelStudioError("A region of the agreed answer has changed in Label Studio: look at the task again.")
        shapes_and_labels = [
            result for result in region_parts if result.get("type") != "textarea" and not control_kind(result)
        ]
        values = _agreed_values([_results_of(control, member, by_id) for member in members], text["value"])
        agreed_text = {**text, "value": {**text["value"], "text": list(texts)}}
        if "turn" in agreed_text:
            agreed_text["from_name"] = name_in_turn(control, agreed_text.pop("turn"))
        results += [
            {**result, "id": f"{AGREED_ID}{control}-{number}", "origin": "prediction"}
            for result in (*shapes_and_labels, agreed_text, *values)
        ]
    return results


def _results_of(
    control: str, row: Mapping[str, Any], by_id: Mapping[Any, Sequence[Mapping[str, Any]]]
) -> list[Mapping[str, Any]]:
    """Return the results of a region, or of a turn of a dialogue."""
    results = [result for result in by_id.get(row["annotation"], ()) if result.get("id") == row["region"]]
    if is_repeated(control):  # imported turns may have no id
        results = [result for result in results if row["where"] == turn_in_words(result.get("turn", -1))]
    return results


def _agreed_values(
    members: Sequence[Sequence[Mapping[str, Any]]], extent: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the results of a region's other controls on which most of its annotators agree, at the agreed extent."""
    by_control: dict[str, list[Mapping[str, Any]]] = {}
    for result in (result for region_parts in members for result in region_parts if control_kind(result)):
        by_control.setdefault(result["from_name"], []).append(result)
    for results in by_control.values():
        answers = [control_values(result) for result in results]
        answers += [[]] * (len(members) - len(answers))
        agreed = agreed_values(control_kind(results[0]) or "", answers)
        agreeing_results = [result for result in results if sorted(control_values(result)) == sorted(agreed or ())]
        if agreed and agreeing_results:
            type_ = "selected" if agreeing_results[0]["type"] == "pairwise" else agreeing_results[0]["type"]
            position = {name: value for name, value in extent.items() if name != "text"}
            yield {**agreeing_results[0], "value": {**position, type_: agreeing_results[0]["value"][type_]}}


class OwnSession:
    """Label Studio as the person who owns a session; the parameters are explained at `session_client`."""

    def __init__(self, base: str, *, session: str, csrf: str | None):
        self._client = functools.partial(session_client, base, session, csrf)

    def annotations(self, task: int) -> list[dict[str, Any]]:
        """Return the annotations of a task.

        Raises
        ------
        LabelStudioError
        """
        return list(self._send("GET", f"/api/tasks/{task}/annotations/"))

    def save_ground_truth(
        self, project: int, task: int, result: Sequence[Mapping[str, Any]], *, annotation: int | None = None
    ) -> int:
        """Save a ground truth of the person, in place of their annotation if it is named; returns its id.

        Raises
        ------
        LabelStudioError
        """
        body = {"result": list(result), "ground_truth": True, "lead_time": 0}
        if annotation is not None:
            return int(self._send("PATCH", f"/api/annotations/{annotation}/", json=body)["id"])
        return int(self._send("POST", f"/api/tasks/{task}/annotations/", params={"project": project}, json=body)["id"])

    def set_ground_truth(self, annotation: int) -> None:
        """Mark an annotation as ground truth, as it was before.

        Raises
        ------
        LabelStudioError
        """
        self._send("PATCH", f"/api/annotations/{annotation}/", json={"ground_truth": True})

    def delete_annotation(self, annotation: int) -> None:
        """Delete an annotation; one that is gone already is fine.

        Raises
        ------
        LabelStudioError
        """
        with contextlib.suppress(_Gone):
            self._send("DELETE", f"/api/annotations/{annotation}/")

    def _send(self, method: str, path: str, **options: Any) -> Any:
        try:
            with self._client() as http:
                return _body(http.request(method, path, **options))
        except httpx.HTTPError:
            raise Unreachable("Label Studio can’t be reached.") from None
        except (ValueError, KeyError, TypeError):
            raise LabelStudioError("Label Studio’s answer could not be read.") from None


class _Gone(LabelStudioError):
    """Label Studio does not have the annotation any more."""


def _body(reply: httpx.Response) -> Any:
    if reply.status_code in (401, 403):
        raise Unauthorized("Label Studio does not let you annotate this task.", reply.status_code)
    if reply.status_code == 404:
        raise _Gone("The annotation is not in Label Studio any more.", 404)
    if reply.status_code >= 300:
        raise LabelStudioError(f"Label Studio answered {reply.status_code}.", reply.status_code)
    return reply.json() if reply.content else None
