"""Pages with a message, and the files of all pages with their versions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flask import render_template

from softirr.report.page.render import SCRIPTS, STATIC, STYLES

SHARED = (*STYLES, *SCRIPTS)
"""Files of the pages that are in `softirr.report.page`."""


def static_dir() -> Path:
    """Scripts and styles of the report and audit pages that `softirr.report.page` does not have."""
    return Path(__file__).parent / "static"


def page_files_version() -> str:
    """Version of the pages' files, of `softirr.report.page` and of this folder."""
    return f"{version_of(STATIC)}{version_of(static_dir())}"


@cache
def version_of(folder: Path) -> str:
    """Short hash of the files of a folder; their addresses contain it, so that browsers can cache them permanently."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


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
