"""The content of the agreement panel for one task."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ml_backend.review.headline import field_headline
from ml_backend.review.panel_rows import rows_of
from ml_backend.review.verdict import verdict
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Row
from softirr.policy.reasons import REASON_NAMES
from softirr.report.page.sentences import TASKS
from softirr.tables.table import SKIPPED

BLIND_STREAM = "Agreement is shown in review: open the task from the Data Manager."
HOW_TO_ACCEPT = "To take it, open the tab “agreement” above the task and choose “Duplicate Annotation” in its menu."
_WORDS = ((0.2, "very low"), (0.4, "low"), (0.6, "moderate"), (0.8, "high"), (1.01, "very high"))


def word(agreement: float) -> str:
    """A word for the observed agreement of one task, without correction for chance."""
    return next(name for limit, name in _WORDS if agreement < limit)


def name_of(raters: Mapping[str, str], rater: str) -> str:
    """Display name of a rater."""
    if rater.startswith("model:"):
        return f"model {rater.removeprefix('model:')}"
    return raters.get(rater) or f"Annotator {rater}"


def moment(seconds: float | None) -> str | None:
    """ISO time of a time stamp."""
    return (
        None
        if seconds is None
        else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


def not_ready(
    project: Row, task: Row | None, settings: ProjectSettings, *, labeling: bool, job: Row | None
) -> dict[str, Any] | None:
    """Reason why the panel is empty, or None if it is not.

    Parameters
    ----------
    labeling : bool
        Whether the task is open in the label stream, so that the person is about to answer it.
    job : mapping or None
        The project's unfinished job.
    """
    base: dict[str, Any] = {"project": {"id": project["number"], "title": project["title"]}, "task": None, "raters": []}
    if labeling:
        return base | {"status": "blind", "message": BLIND_STREAM}
    working = project["wanted_at"] is not None or (job is not None and job["state"] in ("queued", "running"))
    if task is None:
        if working or project["pulled_at"] is None:
            return base | {"status": "pending", "message": "This task is not read yet.", "job": job_view(job)}
        return base | {"status": "none", "message": "Nobody has answered this task yet."}
    base["task"] = {"id": task["number"]}
    n, required = n_given(task["n_annotations"], task["answers"]), project["required"]
    if settings.panel == "complete" and n < required:
        some = "no annotator has" if n == 0 else "1 annotator has" if n == 1 else f"{n} annotators have"
        return base | {
            "status": "blind",
            "message": f"Agreement is shown once all {required} annotators have answered; {some} so far.",
        }
    if task["scored_hash"] is None or task["scored_hash"] != task["answers_hash"] or task["details"] is None:
        return base | {
            "status": "pending",
            "message": "The agreement of this task is being computed.",
            "job": job_view(job),
        }
    if task["agreement"] is None:
        excluded = _excluded(task, list(task["answers"]))
        raters = {one["rater"] for one in excluded}
        return base | {
            "status": "none",
            "message": "Nobody has answered this task yet."
            if not task["n_answers"]
            else "Only one annotator has answered so far: there is nothing to compare.",
            "excluded": excluded,
            "raters": [{"id": rater, "name": name_of(project["raters"], rater)} for rater in sorted(raters)],
        }
    return None


def payload(
    project: Row,
    task: Row,
    *,
    place: tuple[int, int] | None,
    decisions: Sequence[Mapping[str, Any]] = (),
    viewer: Mapping[str, Any] | None = None,
    links: Mapping[str, str] | None = None,
    calibrated: int | None = None,
    threshold: float = 0.5,
    audited: Callable[[str], Row | None] = lambda _: None,
    agreed: Mapping[str, Mapping[str, Any]] | None = None,
    uncounted: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The panel of a task that has an agreement (see ``plugin/panel/render.js`` for how it looks).

    Parameters
    ----------
    place : (int, int) or None
        The task's rank from the lowest, and how many tasks have one.
    decisions : sequence
        Judgements of the project: id, text_a, text_b, same, reviewer, decided_at.
    calibrated : int or None
        Decisions that calibrate the measure.
    threshold : float
        Equivalence from which on two texts match.
    audited : callable
        The newest audit of a field with a result, whose coefficient is shown for the project.
    agreed : mapping, optional
        Field -> the task's agreed answer (`ml_backend.review.consensus.agreed_of_task`).
    uncounted : sequence
        What reviewers say does not count in the project: id, attribute, task, reviewer, at.
    """
    details = task["details"]["controls"]
    names = [name for name in task["answers"] if name in details]
    summary = project["summary"] or {}
    controls = [
        _control(project, task, name, decisions, threshold)
        | {"headline": field_headline(project, name, audited(name)), "agreed": (agreed or {}).get(name)}
        for name in names
    ]
    first = next((c for c in controls if c["agreement"] is not None), controls[0])
    provenance = dict(summary.get("provenance") or {})
    return {
        "status": "ready",
        "message": "",
        "misfits": list(summary.get("misfits", ())),
        "project": {
            "id": project["number"],
            "title": project["title"],
            "coefficient": first["headline"],
            "n_items": place[1] if place else None,
        },
        "task": {
            "id": task["number"],
            "agreement": task["agreement"],
            "word": word(task["agreement"]),
            "rank": place[0] if place else None,
            "n_ranked": place[1] if place else None,
            "n_raters": first["n_raters"],
        },
        "control": first["name"],
        "threshold": threshold,
        **{
            key: first[key]
            for key in (
                "raters",
                "matrix",
                "matches",
                "unmatched",
                "suggestion",
                "suggestion_codes",
                "reasons",
                "written",
                "split",
                "excluded",
                "decisions",
                "agreed",
                "verdict",
            )
        },
        **({"controls": controls} if len(controls) > 1 else {}),
        "provenance": {
            "measure": provenance.get("measure"),
            "model": provenance.get("model"),
            "policy": provenance.get("policy"),
            "terminologies": [one["name"] for one in provenance.get("terminologies") or ()],
            "calibrated": calibrated,
            "computed_at": moment(task["scored_at"]),
        },
        "viewer": dict(viewer or {"can_decide": False}),
        "links": dict(links or {}),
        "uncounted": [
            {
                "id": one["id"],
                "attribute": one["attribute"],
                "task": one["task"],
                "who": one["reviewer"],
                "when": moment(one["at"]),
            }
            for one in uncounted
        ],
        "how_to_accept": HOW_TO_ACCEPT if first["suggestion"] else None,
    }


def job_view(job: Row | None) -> dict[str, Any] | None:
    """Progress of a running job."""
    if job is None or job["state"] != "running" or not job["total"]:
        return None
    return {"phase": job["phase"], "done": min(job["done"], job["total"]), "total": job["total"]}


def matrix(raters: Sequence[str], pairs: Iterable[Sequence[Any]]) -> list[list[float | None]]:
    """Symmetric, 1 on the diagonal, None where two raters were not compared."""
    known = {frozenset((a, b)): value for a, b, value in pairs}
    return [[1.0 if a == b else known.get(frozenset((a, b))) for b in raters] for a in raters]


def _control(
    project: Row, task: Row, name: str, decisions: Sequence[Mapping[str, Any]], threshold: float
) -> dict[str, Any]:
    details = task["details"]["controls"][name]
    answers = task["answers"][name]["answers"]
    raters = list(answers)
    texts = {text for given in answers.values() for text in given}
    here = [_decision(d) for d in decisions if d["text_a"] in texts and d["text_b"] in texts]
    matches, unmatched = rows_of(details, here, threshold)
    left_out = _excluded(task, [name])
    found = {
        "name": name,
        "agreement": details["agreement"],
        "n_raters": details["n_raters"],
        "raters": [
            {"id": rater, "name": name_of(project["raters"], rater), "n_texts": len(given)}
            for rater, given in answers.items()
        ],
        "matrix": matrix(raters, details["pairs"]),
        "matches": matches,
        "unmatched": unmatched,
        "suggestion": details["suggestion"],
        "reasons": [{**one, "name": REASON_NAMES[one["kind"]]} for one in details.get("reasons", ())],
        "suggestion_codes": details.get("suggestion_codes") or {},
        "written": details.get("written") or {},
        "split": task["answers"][name].get("split"),
        "excluded": [{**one, "name": name_of(project["raters"], one["rater"])} for one in left_out],
        "decisions": here,
    }
    return found | {"verdict": verdict(found, details["pairs"], threshold)}


def _decision(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "texts": [row["text_a"], row["text_b"]],
        "verdict": "same" if row["same"] else "different",
        "who": row["reviewer"],
        "when": moment(row["decided_at"]),
    }


def n_given(n_annotations: int, answers: Mapping[str, Any]) -> int:
    """Annotators who have finished with a task: those who skipped it and did not answer it count too."""
    entries = answers.values()
    skipped = {str(rater) for entry in entries for rater, reason in entry.get("excluded", ()) if reason == SKIPPED}
    return n_annotations + len(skipped - {rater for entry in entries for rater in entry["answers"]})


def _excluded(task: Row, names: Iterable[str]) -> list[dict[str, Any]]:
    found = [
        (str(rater), reason)
        for name in names
        for rater, reason in (task["answers"].get(name) or {}).get("excluded", ())
    ]
    return [{"rater": rater, "reason": TASKS.said(reason)} for rater, reason in dict.fromkeys(found)]
