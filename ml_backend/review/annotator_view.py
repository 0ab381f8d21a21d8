"""The panel as an annotator sees it: how the answers to a task agree, and nothing about a colleague.

Names would tell how reliable a colleague is. So the others are Annotator A, Annotator B, ... in another order for each
task, no sentence singles out
who differs, and nothing compares annotators two by two.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from ml_backend.review.first_line import verdict
from softirr.answers.table import MODEL

__all__ = ["for_annotator"]


def for_annotator(body: Mapping[str, Any], user: str, *, secret: bytes, threshold: float) -> dict[str, Any]:
    """The panel's content without what it says of other annotators.

    Parameters
    ----------
    body : mapping
        What `panel_payload.payload` or `panel_payload.not_ready` gives.
    user : str
        The annotator who looks.
    secret : bytes
        Of the store: without it nobody can work out the order of the others.
    threshold : float
        Equivalence from which on two texts match.

    Returns
    -------
    dict
    """
    fields, beside = body.get("controls", [body]), body.get("other_fields") or []
    raters = {rater for field in (*fields, *beside) for rater in _raters(field)}
    models = {rater: rater for rater in raters if rater.startswith(MODEL)}
    others = raters - {user} - models.keys()
    names = {user: user} | models | _pseudonyms(others, str((body.get("task") or {}).get("id")), secret)
    if body.get("status") != "ready":
        return {**body, **_without_others(body, names, user)}
    fields_seen = [_field(field, names, user, threshold) for field in fields]
    first = next((one for one in fields_seen if one.get("name") == body.get("control")), None)
    first = first or (fields_seen[0] if fields_seen else _without_others(body, names, user))
    view = {**body, **{key: value for key, value in first.items() if key in body}}
    return (
        view
        | ({"controls": fields_seen} if "controls" in body else {})
        | ({"other_fields": [_beside(field, names, user) for field in beside]} if beside else {})
    )


def _beside(field: Mapping[str, Any], names: Mapping[str, str], user: str) -> dict[str, Any]:
    """A field that is no text, with annotators under their letters."""
    values = [{**one, "raters": sorted(names[str(rater)] for rater in one["raters"])} for one in field["values"]]
    values.sort(key=lambda one: (-len(one["raters"]), one["values"]))
    return {**field, **_without_others(field, names, user), "values": values}


def _raters(field: Mapping[str, Any]) -> set[str]:
    """Whoever the field mentions; scores that are computed again may mention one whose answer is gone."""
    known = {str(one["id"]) for one in field.get("raters", ())}
    for match in field.get("matches", ()):
        known |= set(map(str, match["texts"]))
    for reason in field.get("reasons", ()):
        known |= set(map(str, reason["raters"]))
    return known | set(map(str, field.get("unmatched") or ())) | set(map(str, field.get("written") or ()))


def _pseudonyms(others: set[str], task: str, secret: bytes) -> dict[str, str]:
    """User -> letter, in an order that says nothing about the users."""

    def place(user: str) -> bytes:
        return hmac.digest(secret, f"annotator of task {task}\x00{user}".encode(), hashlib.sha256)

    letters = [*ascii_uppercase, *(f"{a}{b}" for a in ascii_uppercase for b in ascii_uppercase)]
    ordered = sorted(others, key=place)
    return {user: letters[at] if at < len(letters) else f"{at + 1}" for at, user in enumerate(ordered)}


def _without_others(field: Mapping[str, Any], names: Mapping[str, str], user: str) -> dict[str, Any]:
    """Annotators under their letters, the one who looks first, and which of their own answers are excluded."""
    raters = [
        {**one, "id": names[str(one["id"])]}
        | ({} if names[str(one["id"])] == str(one["id"]) else {"name": f"Annotator {names[str(one['id'])]}"})
        for one in field.get("raters", ())
    ]
    excluded = [one for one in field.get("excluded", ()) if str(one["rater"]) == user]
    ordered = sorted(raters, key=lambda one: (one["id"] != user, len(one["id"]), one["id"]))
    return {"raters": ordered} | ({"excluded": excluded} if "excluded" in field else {})


def _field(field: Mapping[str, Any], names: Mapping[str, str], user: str, threshold: float) -> dict[str, Any]:
    def renamed(by_rater: Mapping[str, Any]) -> dict[str, Any]:
        under_letters = {names[str(rater)]: value for rater, value in by_rater.items()}
        return {rater: under_letters[rater] for rater in sorted(under_letters)}

    def pair(one: Mapping[str, Any]) -> dict[str, Any]:
        return {**one, "raters": [names[str(rater)] for rater in one["raters"]]}

    def region(one: Mapping[str, Any] | None, rater: Any) -> dict[str, Any] | None:
        """A region of somebody else without the ids by which Label Studio shows whose it is."""
        return None if one is None else {**one, **({} if str(rater) == user else {"annotation": None, "region": None})}

    def row(match: Mapping[str, Any]) -> dict[str, Any]:
        broader = match.get("broader")
        regions = {rater: region(one, rater) for rater, one in match.get("regions", {}).items()}
        return {
            **match,
            "texts": renamed(match["texts"]),
            "pairs": [pair(one) for one in match.get("pairs", ())],
            "broader": None if broader is None else names[str(broader)],
            **({"regions": renamed(regions)} if regions else {}),
        }

    alone = {rater: [region(one, rater) for one in own] for rater, own in field.get("alone_regions", {}).items()}
    view = {
        **field,
        **_without_others(field, names, user),
        "matrix": [],
        "matches": [row(match) for match in field["matches"]],
        "unmatched": renamed(field["unmatched"]),
        "written": renamed(field.get("written") or {}),
        "reasons": [pair(one) for one in field.get("reasons", ())],
        **({"alone_regions": renamed(alone)} if alone else {}),
    }
    return view | {"verdict": verdict(view, threshold, naming=False)}
