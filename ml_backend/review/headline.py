"""The headline of a project, the same in the terminal, the panel, the report and the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.settings import Settings, effective
from softirr.report.headline import (
    headline,
    headline_sentences,
    references,
    shown_interval,
    standing,
    who_pulls_down,
)

__all__ = ["field_headline", "headline_lines", "target_of"]


def target_of(project: Mapping[str, Any]) -> float | None:
    """The coefficient that a project wants to reach, if it set one."""
    return effective(Settings(), connection=project["extra_params"], chosen=project["chosen"]).values.target


def field_headline(
    project: Mapping[str, Any], control: str, audit: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """The headline of one field of a project; None while no answers can be compared.

    Parameters
    ----------
    project : mapping
        A row of the store.
    audit : mapping, optional
        The newest audit of the field with a result (`ReviewStore.audited`), whose coefficient is used.

    Returns
    -------
    dict
        ``name`` (of the coefficient), ``value``, ``ci95`` (with the measure's error where it is not audited), ``ci95_items`` (without it), ``audited``, ``plain`` (by the measure alone), ``target``, ``standing``,
        ``references``, ``without`` ({"rater", "name", "value"} of who pulls it down most, or None) and ``sentences``.
    """
    summary = ((project["summary"] or {}).get("controls") or {}).get(control)
    found = headline(summary)
    if summary is None or found is None:
        return None
    name, plain = found
    corrected = (audit["result"]["coefficients"].get(name) if audit is not None else None) or {}
    audited = corrected.get("value") is not None
    chosen = corrected if audited else plain
    target = target_of(project)
    without = (summary.get("headline") or {}).get("without", ())
    pull = who_pulls_down(without, plain["value"])

    def called(rater: str) -> str:
        from ml_backend.review.panel_payload import name_of

        return name_of(project["raters"], rater)

    return {
        "name": name,
        "value": chosen["value"],
        "ci95": shown_interval(chosen),
        "ci95_items": None if audited or not chosen.get("ci95_unaudited") else chosen["ci95"],
        "audited": audited,
        "plain": {"value": plain["value"], "ci95": plain.get("ci95")} if audited else None,
        "target": target,
        "standing": None if target is None else standing(chosen["value"], shown_interval(chosen), target),
        "references": references(chosen["value"]) if name != "observed_agreement" else None,
        "without": None if pull is None else {**pull, "name": called(pull["rater"])},
        "sentences": headline_sentences(
            name, chosen, without, audited=audited, plain=plain["value"], target=target, name_of=called
        ),
    }


def headline_lines(project: Mapping[str, Any], audits: Mapping[str, Any] | None = None) -> list[str]:
    """The headline of each field for a terminal; the field is named where there are several."""
    controls = list((project["summary"] or {}).get("controls") or ())
    lines: list[str] = []
    for control in controls:
        found = field_headline(project, control, (audits or {}).get(control))
        said = found["sentences"] if found else ["There is no agreement to report yet."]
        lines += [f"Field {control}: {said[0]}", *said[1:]] if len(controls) > 1 else said
    return lines
