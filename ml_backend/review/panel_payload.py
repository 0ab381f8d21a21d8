"""The content of the agreement panel of a task."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ml_backend.labelstudio.answers import texts_of
from ml_backend.review.agreement_words import chance_of, word
from ml_backend.review.first_line import verdict
from ml_backend.review.headline import field_headline
from ml_backend.review.misfits import misfits_of
from ml_backend.review.panel_regions import regions_of
from ml_backend.review.panel_rows import rows_of
from ml_backend.review.rater_names import name_of
from ml_backend.review.release import n_given
from ml_backend.scoring.task_score import chosen_score, score_words
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Row
from softirr.answers.table import DRAFT, SKIPPED
from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.plural import plural
from softirr.report.page.sentences import TASKS

BLIND_STREAM = "Agreement is not shown while you answer. Reviewers see it in the list of tasks."
HOW_TO_ACCEPT = "To take it, open the tab “agreement” above the task and choose “Duplicate Annotation” in its menu."


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
    working = job is not None and job["state"] in ("queued", "running")
    if task is None:
        if working or project["pulled_at"] is None:
            return base | {"status": "pending", "message": "This task is not read yet.", "job": job_view(job)}
        return base | {"status": "none", "message": "Nobody has answered this task yet."}
    base["task"] = {"id": task["number"]}
    n, required = n_given(task["n_annotations"], task["answers"]), project["required"]
    if settings.panel == "complete" and n < required:
        some = plural(n, "annotator has", "annotators have") if n else "no annotator has"
        return base | {
            "status": "blind",
            "message": "Agreement is shown once "
            f"{'the annotator has' if required == 1 else f'all {required} annotators have'} answered; {some} so far.",
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
            "message": _nobody(excluded)
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
    threshold: float = 0.5,
    agreed: Mapping[str, Mapping[str, Any]] | None = None,
    about_people: bool = True,
    home: str = "",
    places: Sequence[str] = (),
    other_fields: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The panel of a task that has an agreement (see ``plugin/panel/render.js`` for how it looks).

    Parameters
    ----------
    place : (int, int) or None
        The task's rank from the lowest, and how many tasks have one.
    decisions : sequence
        Reviewers' decisions in the project: id, text_a, text_b, same, reviewer, decided_at.
    threshold : float
        Equivalence from which on two texts match.
    agreed : mapping, optional
        Field -> the task's agreed answer (`ml_backend.review.consensus.agreed_of_task`).
    about_people : bool
        Whether the project's coefficient names who pulls it down.
    home, places
        Label Studio's address for browsers, and its origins (`panel_regions.Regions.shows`).
    other_fields : sequence of mapping
        Controls that are no text (`panel_fields.fields_of`).
    """
    details = task["details"]["controls"]
    summary = project["summary"] or {}
    fields = []
    for name in (name for name in texts_of(task["answers"]) if name in details):
        field = _field(project, task, name, decisions, threshold)
        if (regions := regions_of(task, name)) is not None:
            field |= {
                "alone_regions": regions.add_to(field["matches"], field["unmatched"]),
                "shows": regions.shows(home, places),
            }
        headline = field_headline(project, name, about_people=about_people)
        fields.append(field | {"headline": headline, "agreed": (agreed or {}).get(name)})
    first = next(
        (one for one in fields if one["agreement"] is not None), fields[0] if fields else _no_text(other_fields)
    )
    chance = chance_of(summary)
    rank, n_ranked = place or (None, None)
    provenance = summary.get("provenance") or {}
    return {
        **{key: value for key, value in first.items() if key not in ("name", "agreement", "n_raters")},
        "status": "ready",
        "message": "",
        "misfits": misfits_of(project),
        "project": {
            "id": project["number"],
            "title": project["title"],
            "coefficient": first["headline"],
            "n_items": n_ranked,
        },
        "task": {
            "id": task["number"],
            "agreement": task["agreement"],
            "chance": chance,
            "word": word(task["agreement"], chance),
            "of": score_words(chosen_score(summary), task["details"]),
            "rank": rank,
            "n_ranked": n_ranked,
            "n_raters": first["n_raters"],
        },
        "control": first["name"],
        "threshold": threshold,
        **({"controls": fields} if len(fields) != 1 else {}),
        **({"other_fields": list(other_fields)} if other_fields else {}),
        "provenance": {
            **{name: provenance.get(name) if fields else None for name in ("measure", "model", "policy")},
            "terminologies": [one["name"] for one in provenance.get("terminologies") or ()],
            "computed_at": moment(task["scored_at"]),
        },
        "viewer": dict(viewer or {"can_decide": False}),
        "links": dict(links or {}),
        "how_to_accept": HOW_TO_ACCEPT if first["suggestion"] else None,
    }


def _no_text(fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The head of the panel in a project that has other fields only."""
    raters = list({rater["id"]: rater for field in fields for rater in field["raters"]}.values())
    known = [field["agreement"] for field in fields if field["agreement"] is not None]
    equal = sum(value >= 1 for value in known)
    return {
        "name": None,
        "headline": None,
        "n_raters": len(raters),
        "raters": raters,
        "suggestion": [],
        "verdict": f"All annotators agree on {equal} of {plural(len(known), 'field')}.",
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


def _field(
    project: Row, task: Row, name: str, decisions: Sequence[Mapping[str, Any]], threshold: float
) -> dict[str, Any]:
    details, entry = task["details"]["controls"][name], task["answers"][name]
    answers = entry["answers"]
    texts = {text for given in answers.values() for text in given}
    here = [_decision(one) for one in decisions if one["text_a"] in texts and one["text_b"] in texts]
    matches, unmatched = rows_of(details, here, threshold)
    field = {
        "name": name,
        "agreement": details["agreement"],
        "n_raters": details["n_raters"],
        "raters": [
            {"id": rater, "name": name_of(project["raters"], rater), "n_texts": len(given)}
            for rater, given in answers.items()
        ],
        "matrix": matrix(list(answers), details["pairs"]),
        "matches": matches,
        "unmatched": unmatched,
        "suggestion": details["suggestion"],
        "reasons": [_reason(one) for one in details.get("reasons", ())],
        "written": details.get("written") or {},
        "split": entry.get("split"),
        "excluded": [{**one, "name": name_of(project["raters"], one["rater"])} for one in _excluded(task, [name])],
        "decisions": here,
        "can_take": not _is_per_region(project, name) or regions_of(task, name) is not None,
    }
    return field | {"verdict": verdict(field, threshold)}


def _is_per_region(project: Row, name: str) -> bool:
    return any(one["name"] == name and one.get("per_region") for one in project.get("controls") or ())


def _reason(one: Mapping[str, Any]) -> dict[str, Any]:
    """A reason with its name."""
    return {**one, "name": REASON_NAMES[one["kind"]]}


def _decision(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "texts": [row["text_a"], row["text_b"]],
        "verdict": "same" if row["same"] else "different",
        "who": row["reviewer"],
        "when": moment(row["decided_at"]),
    }


def _nobody(excluded: Sequence[Mapping[str, Any]]) -> str:
    """Why a task has no answer: nobody gave one, or none counts."""
    given = any(one["reason"] not in (SKIPPED, DRAFT) for one in excluded)
    return "No answer to this task counts." if given else "Nobody has answered this task yet."


def _excluded(task: Row, names: Iterable[str]) -> list[dict[str, Any]]:
    listed = [
        (str(rater), reason)
        for name in names
        for rater, reason in (task["answers"].get(name) or {}).get("excluded", ())
    ]
    return [{"rater": rater, "reason": TASKS.adapt(reason)} for rater, reason in dict.fromkeys(listed)]
