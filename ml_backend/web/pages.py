"""The report as a page: served with separate files, or as one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import render_template

from ml_backend.web.assets import page_files_version
from softirr.report.page.formats import FORMATS
from softirr.report.page.matrix import matrix
from softirr.report.page.render import SCRIPTS, STYLES, inlined
from softirr.report.page.sentences import NAMES, TASKS
from softirr.report.page.view import concepts_view

LIVE = "report.js"  # what talks to the server; not in the file
CHARTS = ("coefficients", "histogram", "distributions", "over_time", "batches", "subgroups", "person_trends")


def served(report: Mapping[str, Any], **more: Any) -> str:
    """The report as a page of this server."""
    return _rendered(report, **page_files(*STYLES, scripts=SCRIPTS, modules=(LIVE,)), live=True, **more)


def waiting(project: Mapping[str, Any], job: Mapping[str, Any] | None) -> str:
    """The page shown while there is no report yet."""
    return render_template(
        "message.html", title="Agreement report", **page_files(*STYLES), **_why_waiting(project, job)
    )


def message(title: str, sentence: str, **more: Any) -> str:
    """A page with one sentence."""
    return render_template("message.html", **{**page_files(*STYLES), "title": title, "sentence": sentence, **more})


def page_files(*styles: str, scripts: Sequence[str] = (), modules: Sequence[str] = ()) -> dict[str, Any]:
    """Template variables for the addresses of the page's files."""
    files = f"report/static/{page_files_version()}"
    return {"files": files, "up": "../", "styles": styles, "scripts": scripts, "modules": modules}


def _why_waiting(project: Mapping[str, Any], job: Mapping[str, Any] | None) -> dict[str, Any]:
    if job is not None and job["state"] == "failed":
        return {"sentence": f"The project could not be scored: {job['message']}", "again": True}
    if project["summary"] and not project["summary"].get("controls"):
        return {"sentence": "The project has no field for free text, so there is nothing to compare."}
    return {
        "sentence": "The project is being read and scored. This page shows the report as soon as it is there.",
        "again": True,
        "job": job if job is not None and job["total"] else None,
    }


def one_file(report: Mapping[str, Any], **more: Any) -> str:
    """The report as one HTML file: no network, and a policy that allows its own scripts and styles only."""
    return _rendered(report, **inlined(), live=False, **more)


def _rendered(report: Mapping[str, Any], **more: Any) -> str:
    charts = {name: report[name] for name in CHARTS if report.get(name)}
    charts["calibration"] = report["decisions"]["calibration"]
    charts["target"] = report["target"]
    charts["words"] = {"item": TASKS.item}
    return render_template(
        "report.html",
        report=report,
        names=NAMES,
        words=TASKS,
        charts=charts,
        matrix=matrix(report),
        contents=_contents(report),
        concepts=_concepts(report),
        **FORMATS,
        **more,
    )


def _concepts(report: Mapping[str, Any]) -> dict[str, Any] | None:
    return concepts_view({**report, "coefficients": {row["key"]: row for row in report["coefficients"]}})


def _contents(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sections of the page, by their anchors."""
    sections = [
        ("h-queue", "To look at", True),
        ("h-reasons", "Reasons", report["reasons"]),
        ("h-policy", "What counts", True),
        ("h-coefficients", "Coefficients", True),
        ("h-codes", "Concepts", _concepts(report)),
        ("h-raters", "Annotators", True),
        ("h-groups", "Groups", report["subgroups"]),
        ("h-regions", "Regions", report["regions"] or report["per_region"]),
        ("h-tasks", "Tasks", True),
        ("h-chance", "Chance", report["distributions"]),
        ("h-time", "Over time", report["over_time"] or report["batches"] or report["person_trends"]),
        ("h-decisions", "Decisions", True),
        ("h-consensus", "Consensus", True),
        ("h-audit", "Audit", True),
        ("h-compare", "Measures", True),
        ("h-excluded", "Left out", True),
        ("h-how", "How it was computed", True),
    ]
    return [(anchor, name) for anchor, name, there in sections if there]
