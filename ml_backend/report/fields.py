"""The table of a project's fields: its texts, and its controls of other kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.report.links import Links
from ml_backend.review.headline import field_headline, text_fields
from ml_backend.review.rater_names import name_of
from ml_backend.store.store import Row
from softirr.answers.kinds import TEXT
from softirr.report.headline import expected_agreement
from softirr.report.labels_and_texts import LabelsAndTexts, association
from softirr.statistics.coefficients.registry import coefficient_name

__all__ = ["field_rows", "labels_and_texts_rows"]


def field_rows(project: Row, links: Links) -> list[dict[str, Any]]:
    """The fields of a project, texts first.

    Returns
    -------
    list of dict
        ``name``, ``kind``, ``coefficient``, ``coefficient_name``, ``value``, ``ci95``, ``expected_agreement``,
        ``n_items``, ``n_left_out``, ``deviates`` (a person's name),
        ``problem`` (why there are no values) and ``confusions`` (``values``, ``pairs``, ``items``, ``link``).
    """
    summary = project["summary"]
    texts = [_text_row(project, name, summary["controls"][name]) for name in text_fields(project)]
    return texts + [_other_row(project, row, links) for row in summary.get("fields") or ()]


def labels_and_texts_rows(project: Row, control: str, links: Links) -> list[dict[str, Any]]:
    """How the agreement on each field of categories and on a text compare, task by task.

    Returns
    -------
    list of dict
        ``label``, the values of `softirr.LabelsAndTexts`, ``sentence`` on the association, and links to the tasks on
        which only the labels or only the texts agree.
    """
    rows = (row for row in project["summary"].get("labels_and_texts") or () if row["text"] == control)
    return [_compared(row, links) for row in rows]


def _compared(row: Mapping[str, Any], links: Links) -> dict[str, Any]:
    label, text = row["label"], row["text"]
    titles = {"only_labels": f"Equal {label}, different {text}", "only_texts": f"Different {label}, equivalent {text}"}
    addresses = {name: links.tasks(tasks, titles[name]) for name in titles if (tasks := row[f"{name}_items"])}
    return {**row, "sentence": association(label, text, LabelsAndTexts.from_dict(row)), "links": addresses}


def _text_row(project: Row, name: str, report: Mapping[str, Any]) -> dict[str, Any]:
    head = field_headline(project, name) or {}
    key = head.get("name")
    return {
        "name": name,
        "kind": TEXT,
        "coefficient": key,
        "coefficient_name": None if key is None else coefficient_name(key),
        "value": head.get("value"),
        "ci95": head.get("ci95"),
        "expected_agreement": None if key is None else expected_agreement(report, key),
        "n_items": report.get("n_compared"),
        "n_left_out": 0,
        "deviates": (head.get("without") or {}).get("name"),
        "problem": None,
        "confusions": [],
    }


def _other_row(project: Row, row: Mapping[str, Any], links: Links) -> dict[str, Any]:
    key, rater = row.get("coefficient"), row.get("deviates")
    return {
        "name": row["name"],
        "kind": row["kind"],
        "coefficient": key,
        "coefficient_name": None if key is None else coefficient_name(key),
        **{name: row.get(name) for name in ("value", "ci95", "expected_agreement", "n_items", "n_left_out")},
        "deviates": None if rater is None else name_of(project["raters"], rater),
        "problem": row.get("problem"),
        "confusions": [_confusion(row["name"], one, links) for one in row.get("confusions") or ()],
    }


def _confusion(name: str, one: Mapping[str, Any], links: Links) -> dict[str, Any]:
    link = links.tasks(one["examples"], f"{name}: {' / '.join(one['values'])}")
    return {"values": one["values"], "pairs": one["pairs"], "items": one["items"], "link": link}
