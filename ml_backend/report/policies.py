"""What counts as the same in a project.

The coefficient and the tasks under each candidate policy, before one is chosen.

The scorer process computes it on request. Scored pairs are in the cache, so that only texts that a policy rewrites meet
the model again; after a change of the project they are scored while nothing else is to do (`prepare`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ml_backend.review.audits import judged_sheets
from ml_backend.review.headline import text_fields
from ml_backend.review.panel_payload import moment
from ml_backend.review.project_work import ProjectWork
from ml_backend.scoring.decided import verdicts
from ml_backend.scoring.scorer import Scorer
from ml_backend.scoring.stored_answers import PLACE
from ml_backend.settings import ProjectSettings
from ml_backend.store.policies import PolicyStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row, Store
from softirr.audit.proposal import PolicyProposal, propose_policy
from softirr.errors import InputError
from softirr.meaning.measures.reliability import JudgedPairs
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, Policy
from softirr.report.headline import headline
from softirr.report.results import AgreementReport
from softirr.text import normalize

__all__ = ["LISTED", "MOST", "MOVED", "candidates", "judged_pairs", "prepare", "run_wanted", "view", "with_policy"]

MOST = 4
"""The lead's own candidates in one request."""
MOVED = 0.1
"""Change of a task's agreement from which the task counts as moved."""
LISTED = 10
"""Moved tasks that are listed for each candidate."""
PREPARED = 2_000
"""Tasks of a project up to which the scores that a look needs are made before anybody asks."""


def run_wanted(work: ProjectWork) -> int:
    """Compute the requested looks; returns their number."""
    looks = PolicyStore(work.store)
    wishes = looks.wanted(work.project["id"])
    for wish in wishes:
        try:
            result: dict[str, Any] = {}
            for result in _looks(work, wish):
                looks.put_part(wish, result)
        except InputError as error:
            result = {"error": str(error)}
        looks.put(wish, result)
    return len(wishes)


def prepare(work: ProjectWork) -> None:
    """Score the pairs that a look would need, so that its rows appear at once; a request ends it.

    Only where a local model scores pairs, and not for a large project.
    """
    project, looks = work.project, PolicyStore(work.store)
    local = work.settings.measure.partition(":")[0] == "nli"
    if not local or work.store.totals(project["id"])["tasks"] > PREPARED:
        return
    for control in text_fields(project):
        kept = looks.get(project["id"], control)
        wish = {"control": control, "policies": [] if kept is None else kept["policies"]}
        for _ in _looks(work, wish):
            if looks.wanted(project["id"]):
                return


def view(
    store: Store, project: Row, control: str, settings: ProjectSettings, link: Callable[[int], str]
) -> dict[str, Any] | None:
    """The look at a field as the report shows it; None where nobody asked.

    Parameters
    ----------
    link : callable
        Address of a task.
    """
    kept = PolicyStore(store).get(project["id"], control)
    if kept is None:
        return None
    result = kept["result"] or {}
    used = settings.policy.mark()
    return {
        "judged": result.get("judged", 0),
        "of": result.get("of", 0),
        "partial": len(result.get("rows", ())) < result.get("of", 0),
        "supports": result.get("supports", []),
        "error": result.get("error"),
        "rows": [
            {
                **row,
                "in_use": Policy.from_dict(row["policy"]).mark() == used,
                "moved": [{**one, "link": link(one["task"])} for one in row["moved"]],
            }
            for row in result.get("rows", ())
        ],
        "at": moment(kept["result_at"]),
        "waiting": kept["wanted_at"] is not None,
        "stale": bool(result) and (project["summary_at"] or 0.0) > kept["result_at"],
    }


def with_policy(
    proposed: Sequence[Mapping[str, Any]], used: Policy, look: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """What reviewers say does not count (`ml_backend.report.reasons`), each with the policy it comes to and what that changes, once looked at.

    Parameters
    ----------
    proposed : sequence
        Each with its attribute.
    used : Policy
        The policy in use; a proposal adds its attribute to those that do not count.
    look : mapping, optional
        As `view` gives it.
    """
    current = look["rows"] if look is not None and not look["stale"] else ()
    rows = {Policy.from_dict(row["policy"]).mark(): row for row in current}
    now = rows.get(used.mark())
    entries = []
    for one in proposed:
        policy = used.changed(ignore=used.ignore | {one["attribute"]})
        row = rows.get(policy.mark())
        keys = ("coefficient", "value", "ci95", "n_moved")
        changes = {**{name: row[name] for name in keys}, "before": now["value"]} if row and now else None
        ignored = one["attribute"] in used.ignore
        entries.append(
            {**one, "in_use": ignored, "policy": policy.to_dict(), "description": policy.describe(), "changes": changes}
        )
    return entries


def candidates(used: Policy, proposed: Policy | None, own: Iterable[Policy]) -> list[Policy]:
    """The policies to look at, each once.

    The one in use, the proposal, the lead's own ones, texts as written, and the presets.
    """
    every = [used, *([proposed] if proposed is not None else []), *own, AS_WRITTEN, *PRESETS.values()]
    first = {one.mark(): one for one in reversed(every)}
    return [first[mark] for mark in dict.fromkeys(one.mark() for one in every)]


def judged_pairs(store: Store, project: Row, settings: ProjectSettings) -> JudgedPairs:
    """Verdicts of people on pairs of texts: judgments of audits, and over them decisions of reviewers.

    A pair that several judges of audits judged has the share of them who call it the same.
    """
    reviews = ReviewStore(store)
    values_of: dict[tuple[str, str], list[float]] = {}
    for entry in reviews.audits(project["id"]):
        audit = reviews.audit(entry["id"])
        if audit is None:
            continue
        pairs = {place: (row[2], row[3]) for place, row in enumerate(audit["sheet"])}
        for one in reviews.judgements(entry["id"]):
            if one["verdict"] == "unsure" or one["place"] not in pairs:
                continue
            a, b = sorted(normalize(text, casefold=settings.casefold) for text in pairs[one["place"]])
            if a != b:
                values_of.setdefault((a, b), []).append(float(one["verdict"] == "same"))
    shares = {pair: sum(values) / len(values) for pair, values in values_of.items()}
    decided = verdicts(store.decisions(project["id"]), casefold=settings.casefold)
    shares |= {pair: float(same) for pair, same in decided.items()}
    return JudgedPairs(tuple(shares), tuple(shares.values()))


def _looks(work: ProjectWork, wish: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The look after each policy, the last one whole."""
    store, project, settings = work.store, work.project, work.settings
    given = judged_pairs(store, project, settings)
    sheets = judged_sheets(ReviewStore(store), project["id"], wish["control"])
    proposal = _proposal(work.scorer, given, settings) if given.pairs else None
    own = [Policy.from_dict(one) for one in wish["policies"]]
    every = candidates(settings.policy, proposal.policy if proposal is not None else None, own)
    wanted = [replace(one, split=settings.policy.split) for one in every]  # how answers are split is another setting
    fits = {one.policy.mark(): one for one in proposal.candidates} if proposal is not None else {}
    looks: list[dict[str, Any]] = []
    before: dict[int, float] = {}
    for policy in wanted:
        work.check()
        work.report("policies", len(looks), len(wanted), 0)
        scored, lost = work.scorer.under_settings(
            work.answers(),
            wish["control"],
            replace(settings, policy=policy),
            decisions=store.decisions(project["id"]),
            judgments=sheets,
            progress=lambda *_: work.check(),
        )
        values = _by_task(scored)
        if not looks:
            before = values
        fit = fits.get(policy.mark())
        values_of = {name: {"value": one.value, "ci95": one.ci95} for name, one in scored.coefficients.items()}
        best = headline({"coefficients": values_of})
        looks.append(
            {
                "policy": policy.to_dict(),
                "description": policy.describe(),
                "coefficient": best[0] if best is not None else None,
                "value": best[1]["value"] if best is not None else None,
                "ci95": best[1]["ci95"] if best is not None else None,
                "right": fit.right if fit is not None else None,
                "judgments_lost": " ".join(lost),
                **_moved(before, values),
            }
        )
        yield {
            "judged": len(given.pairs),
            "supports": [one.describe() for one in proposal.supports] if proposal is not None else [],
            "of": len(wanted),
            "rows": _marked(looks, proposal.policy if proposal is not None else None),
        }


def _marked(rows: Sequence[Mapping[str, Any]], proposed: Policy | None) -> list[dict[str, Any]]:
    """The rows, each with whether it is the proposal and fits.

    It explains most judgments, no other explains more, and texts as written explain fewer.
    """
    right = {Policy.from_dict(row["policy"]).mark(): row["right"] for row in rows if row["right"] is not None}

    def fits(row: Mapping[str, Any]) -> bool:
        mark, value = Policy.from_dict(row["policy"]).mark(), row["right"]
        if proposed is None or mark != proposed.mark() or value is None:
            return False
        plain = right.get(AS_WRITTEN.mark(), 0.0)
        return bool(value > 0.5 and value >= max(right.values()) and (value > plain or mark == AS_WRITTEN.mark()))

    return [{**row, "proposed": fits(row)} for row in rows]


def _proposal(scorer: Scorer, given: JudgedPairs, settings: ProjectSettings) -> PolicyProposal:
    with scorer.alone_with(settings.measure):
        measure = scorer.measure_under(settings.measure, AS_WRITTEN, settings.terminologies)
        cache = scorer.cache(settings.measure)
        return propose_policy(given, measure, threshold=settings.threshold, cache=cache, progress=None)


def _by_task(report: AgreementReport) -> dict[int, float]:
    """Agreement by task; of several places the mean."""
    by_task: dict[int, list[float]] = {}
    for item in report.items:
        if item.agreement is not None:
            by_task.setdefault(int(item.id.partition(PLACE)[0]), []).append(item.agreement)
    return {task: sum(values) / len(values) for task, values in by_task.items()}


def _moved(before: Mapping[int, float], after: Mapping[int, float]) -> dict[str, Any]:
    """How many tasks change by more than `MOVED`, and those that change most."""
    changes: Sequence[tuple[int, float, float]] = [
        (task, before[task], value) for task, value in after.items() if abs(value - before.get(task, value)) > MOVED
    ]
    most = sorted(changes, key=lambda one: (-abs(one[2] - one[1]), one[0]))[:LISTED]
    return {"n_moved": len(changes), "moved": [{"task": task, "before": was, "after": now} for task, was, now in most]}
