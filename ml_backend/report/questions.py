"""What the pages may ask to compare: the questions, checked, and what their answers rest on."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from ml_backend.review.headline import text_fields
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from softirr.answers.item_fields import ANNOTATED_AT
from softirr.answers.period import Period
from softirr.defaults import MARGIN
from softirr.errors import InputError
from softirr.planning.compare_raters import OTHERS_ON_ITEMS_OF

__all__ = ["KINDS", "MEASURES", "MOST_PROJECTS", "basis", "checked", "names_in", "projects_of"]

MEASURES = "measures"
"""The kind that the report asks for: the same answers under other measures."""
KINDS = ("projects", "fields", "groups", "rounds", "teams", "annotator", "models", "time", MEASURES)
MOST_PROJECTS, MOST_MEASURES = 8, 8
_LONGEST = 200


def checked(given: Mapping[str, Any], project: Row, measures: Collection[str] = ()) -> dict[str, Any]:
    """What is asked for, with known entries only.

    Parameters
    ----------
    given : mapping
        ``kind``, one of `KINDS`; ``control``; and by kind ``projects`` (numbers) and ``field`` (names the same task in
        each), ``field``, ``same`` (of groups: names the same task in each), ``date`` (of rounds), ``teams`` (two lists
        of ids of annotators), ``annotator``, ``margin``, ``measures`` (names).
    project : mapping
        The project's row.
    measures : collection of str
        Measures that may be compared.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        With one sentence that says what is wrong.
    """
    kind = given.get("kind")
    controls = list((project["summary"] or {}).get("controls") or ())
    if kind not in KINDS:
        raise InputError(f"kind is none of {', '.join(KINDS)}.")
    if controls and not text_fields(project):
        raise InputError("Only texts can be compared here, and this project has none.")
    control = given.get("control") or next(iter(controls), None)
    if control not in controls:
        raise InputError("This project has no such field, or has not been scored yet.")
    asked: dict[str, Any] = {"kind": kind, "control": control}
    people = {rater["id"] for rater in project["summary"]["controls"][control]["raters"]}
    if kind == "projects":
        asked |= {"projects": _numbers(given.get("projects"), project["number"]), "field": _word(given, "field")}
    elif kind == "fields" and len(controls) < 2:
        raise InputError("This project has one field only.")
    elif kind in ("groups", "time"):
        asked["field"] = _word(given, "field") or (ANNOTATED_AT if kind == "time" else "")
        if not asked["field"]:
            raise InputError("Name the field of the tasks that makes the groups.")
        if kind == "groups":
            asked["same"] = _word(given, "same")
    elif kind == "rounds":
        asked["date"] = _word(given, "date")
        if not asked["date"]:
            raise InputError("Name the day on which the second round began.")
        Period.of(asked["date"], None)
    elif kind == MEASURES:
        asked[MEASURES] = _measures(given.get(MEASURES), measures)
    elif kind == "teams":
        asked["teams"] = _teams(given.get("teams"), people)
    if kind == "annotator" or (kind == "time" and given.get("annotator")):
        annotator = given.get("annotator")
        if not isinstance(annotator, str) or annotator not in people:
            raise InputError("Choose an annotator of this project.")
        asked["annotator"] = annotator
    if kind in ("annotator", "models"):
        asked["margin"] = _margin(given.get("margin"))
    return asked


def projects_of(question: Mapping[str, Any]) -> list[int]:
    """Numbers of the other projects that a comparison is about: whoever sees it needs access to each."""
    return list(question.get("projects", ()))


def names_in(comparison: Mapping[str, Any], question: Mapping[str, Any]) -> list[str]:
    """Names that people gave, in a comparison as JSON: screens put their own words for items and raters around them."""
    labels = [group["label"] for group in (*comparison.get("groups", ()), *comparison.get("others", ()))]
    given = [comparison.get("by"), comparison.get("rater"), question.get("field"), question.get("annotator")]
    return [*(label.removeprefix(OTHERS_ON_ITEMS_OF) for label in labels), *(str(one) for one in given if one)]


def _numbers(given: Any, own: int) -> list[int]:
    numbers = given if isinstance(given, list) else []
    if not all(type(one) is int and 0 < one < 2**31 for one in numbers):
        raise InputError("projects is not a list of numbers of projects.")
    others = sorted(set(numbers) - {own})
    if not 0 < len(others) < MOST_PROJECTS:
        raise InputError(f"Choose one other project or more, {MOST_PROJECTS} in all at most.")
    return others


def _measures(given: Any, known: Collection[str]) -> list[str]:
    names = given if isinstance(given, list) else []
    if not 0 < len(names) <= MOST_MEASURES or not all(isinstance(one, str) and one in known for one in names):
        raise InputError(f"measures is not a list of up to {MOST_MEASURES} of {', '.join(sorted(known))}.")
    return list(dict.fromkeys(names))


def _word(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InputError(f"{name} is not a name.")
    return value.strip()


def _teams(given: Any, people: Iterable[str]) -> list[list[str]]:
    known = set(people)
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(team, list) for team in given):
        raise InputError("teams is not two lists of annotators.")
    if not all(isinstance(one, str) and one in known for team in given for one in team):
        raise InputError("A team contains a person who is not an annotator of this project.")
    if any(len(set(team)) < 2 for team in given):
        raise InputError("Each team needs two annotators or more.")
    return [sorted(set(team)) for team in given]


def _margin(given: Any) -> float:
    if given is None:
        return MARGIN
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1:
        raise InputError("margin is not a number from 0 to 1.")
    return float(given)


def basis(store: Store, project: Row, question: Mapping[str, Any]) -> str:
    """Hash of the answers, decisions and judgments that a comparison is based on."""
    rows = [project, *(store.project(project["server"], number) for number in projects_of(question))]
    states = [_state(store, row) for row in rows if row is not None]
    return hashlib.sha256(" ".join(states).encode()).hexdigest()


def _state(store: Store, project: Row) -> str:
    query = sa.select(tasks.c.number, tasks.c.answers_hash).where(tasks.c.project == project["id"])
    answers = [tuple(row.values()) for row in store.rows(query.order_by(tasks.c.number))]
    decided = sorted((row["pair"], row["same"]) for row in store.decisions(project["id"]))
    judged = ReviewStore(store).judged(project["id"])
    return hashlib.sha256(repr((answers, decided, *judged)).encode()).hexdigest()
