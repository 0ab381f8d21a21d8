"""Replies to browsers: pages, JSON for a person with its times and progress, and refusals."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Response, current_app, jsonify, request

from ml_backend.auth.browser_auth import remember_given_key
from ml_backend.auth.origins import page_policy, panel_policy
from ml_backend.auth.requests import Refused
from ml_backend.store.store import Row
from ml_backend.web.pages import message
from softirr.answers.sheets import plain_cell


def refused(error: Refused) -> tuple[Response, int, dict[str, str]]:
    """The reason for a refusal as JSON, for programs."""
    headers = {"WWW-Authenticate": 'Basic realm="softirr"'} if error.status == 401 else {}
    return jsonify({"error": error.sentence}), error.status, headers


def page(html: str, *, label_studio: list[str] | None = None) -> Response:
    """A page with a strict policy that nobody stores; in frames of Label Studio only if `label_studio` is given."""
    response = current_app.make_response(html)
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Content-Security-Policy"] = page_policy() if label_studio is None else panel_policy(label_studio)
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def shown(project: Row, html: str) -> Response:
    """A page about a project; a browser that came with the report's key keeps it."""
    response = page(html)
    remember_given_key(response, project)
    return response


def attachment(response: Response, name: str) -> Response:
    """The reply as a file of this name."""
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def data(body: Any, *, status: int = 200, etag: bool = False) -> Response:
    """JSON for a visitor; with `etag`, unchanged content is 304 without a body."""
    response = jsonify(body)
    response.status_code = status
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Vary"] = "Cookie, Origin, X-Softirr-Key"
    if not etag:
        response.headers["Cache-Control"] = "private, no-store"
        return response
    response.headers["Cache-Control"] = "private, no-cache"
    response.set_etag(hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:24])
    response.make_conditional(request)
    return response


def refusal(error: Refused) -> Response:
    """The reason for a refusal: a page for people, JSON for programs."""
    if request.path.startswith("/api/") or request.path.rpartition(".")[2] in ("csv", "json"):
        return data({"error": error.sentence}, status=error.status)
    up = "../" * max(1, request.path.strip("/").count("/"))
    response = page(message("Not shown", error.sentence, asks_key=error.status == 403, up=up))
    response.status_code = error.status
    if error.status == 401:
        response.headers["WWW-Authenticate"] = 'Basic realm="softirr"'
    return response


def csv_file(rows: Iterable[Iterable[Any]], *, warnings: Sequence[str] = (), for_people: bool = True) -> Response:
    """Rows as a CSV file that nobody stores, the header first, in which no text can become a formula.

    Parameters
    ----------
    warnings : sequence of str
        A last column with these, since whoever opens the file has not seen the page.
    for_people : bool
        Start with a byte order mark, by which spreadsheets recognize UTF-8.
    """
    last = [" ".join(warnings)] if warnings else []
    text = io.StringIO()
    writer = csv.writer(text)
    for number, row in enumerate(rows):
        writer.writerow([*(plain_cell(value) for value in row), *(last if number else ["warning"] * len(last))])
    response = current_app.make_response(("\ufeff" if for_people else "") + text.getvalue())
    response.headers["Content-Type"] = "text/csv; charset=utf-8"
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def moment(seconds: float | None) -> str | None:
    """ISO time of a time stamp."""
    return (
        None
        if seconds is None
        else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


def job_view(job: Row | None) -> dict[str, Any] | None:
    """Progress of a running job."""
    if job is None or job["state"] != "running" or not job["total"]:
        return None
    return {"phase": job["phase"], "done": min(job["done"], job["total"]), "total": job["total"]}
