"""The report as a page: served with separate files, or as one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import render_template

from ml_backend.web.assets import page_files_version
from softirr.report.page.render import STYLES


def waiting(project: Mapping[str, Any], job: Mapping[str, Any] | None) -> str:
    """The page shown until the report exists."""
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
        problems = [row["problem"] for row in project["summary"].get("fields") or () if row.get("problem")]
        return {"sentence": " ".join(problems) or "Nobody has answered a field of this project yet."}
    return {
        "sentence": "The project is being read and scored. This page shows the report as soon as it is there.",
        "again": True,
        "job": job if job is not None and job["total"] else None,
    }
