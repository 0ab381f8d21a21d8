"""Everything that the report says, as one JSON-ready object; page, file, CSV and JSON are made from it."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ml_backend import calibration_of_project
from ml_backend.panel_payload import headline, moment, name_of, word
from ml_backend.report.compare import KEPT, state
from ml_backend.report.links import Links
from ml_backend.review_store import ReviewStore
from ml_backend.schema import tasks
from ml_backend.store import Row, Store
from ml_backend.triage_queue import candidate, ordered

SCHEMA_VERSION = 1
QUEUE = 200  # tasks of the queue that the report carries; the API has all
EXCLUDED = 200
BATCHES = 20
NAMES = {
    "observed_agreement": "Observed agreement",
    "cohen_kappa": "Cohen’s kappa",
    "scott_pi": "Scott’s pi",
    "fleiss_kappa": "Fleiss’ kappa",
    "krippendorff_alpha": "Krippendorff’s alpha",
    "gwet_ac2": "Gwet’s AC2",
    "sigma": "Sigma",
    "ks": "KS",
}
MEANINGS = {
    "observed_agreement": "Mean equivalence of two answers to the same task; says nothing of chance.",
    "cohen_kappa": "Beyond chance, mean over pairs of annotators, each with their own habits.",
    "scott_pi": "Beyond chance, for exactly two annotators with habits in common.",
    "fleiss_kappa": "Beyond chance, any number of annotators with habits in common.",
    "krippendorff_alpha": "Beyond chance; copes with missing answers and small samples.",
    "gwet_ac2": "Beyond chance; stays high where nearly all answers are alike.",
    "sigma": "Share of same-task pairs more alike than 95 % of different-task pairs (Braylan et al. 2022).",
    "ks": "Greatest gap between same-task and different-task pairs (Braylan et al. 2022).",
}
EXPECTED = {
    "cohen_kappa": "cohen",
    "fleiss_kappa": "fleiss",
    "scott_pi": "fleiss",
    "krippendorff_alpha": "krippendorff",
}
KIND_NAMES = {
    "generalisation": "Generalisation: one text is more general than the other",
    "lexical": "Lexical: alike in spelling, different in meaning",
    "equality": "Equality: related, but not the same",
    "unrelated": "Unrelated",
}


class Reports:
    """Builds reports, and keeps the last few: they change only when the project does."""

    def __init__(self, store: Store, *, kept: int = 8):
        self._store = store
        self._reviews = ReviewStore(store)
        self._kept = kept
        self._cache: OrderedDict[tuple[Any, ...], dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, project: Row, control: str | None, links: Links) -> dict[str, Any] | None:
        """The report on one control (the first by default); None while the project has not been scored."""
        summary = project["summary"]
        if not summary or not summary.get("controls"):
            return None
        name = control if control in summary["controls"] else next(iter(summary["controls"]))
        key = (project["id"], name, links.project(), *self._state(project))
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        built = build(self._store, self._reviews, project, name, links)
        with self._lock:
            self._cache[key] = built
            while len(self._cache) > self._kept:
                self._cache.popitem(last=False)
        return built

    def version(self, project: Row) -> str:
        """Name of the present results: changes when a report would read differently, marks on tasks apart."""
        return hashlib.sha256(repr(self._results(project)).encode()).hexdigest()[:16]

    def _state(self, project: Row) -> tuple[Any, ...]:
        """What a report depends on; cheap to ask."""
        marks = self._reviews.done(project["id"])
        asked = [asked for _, asked, _ in self._reviews.comparisons(project["id"])]
        return (*self._results(project), len(marks), max((row["at"] for row in marks.values()), default=0), *asked)

    def _results(self, project: Row) -> tuple[Any, ...]:
        with self._store.engine.connect() as connection:
            scored = connection.execute(
                sa.select(sa.func.count(), sa.func.max(tasks.c.scored_at)).where(tasks.c.project == project["id"])
            ).one()
        audits = [(row["id"], row["result_at"]) for row in self._reviews.audits(project["id"])]
        said = [(row["id"], row["decided_at"]) for row in self._store.decisions(project["id"])]
        compared = [done for _, _, done in self._reviews.comparisons(project["id"])]
        fitted = self._reviews.calibration(project["id"])
        at = None if fitted is None else fitted["at"]
        return (project["summary_at"], project["title"], *scored, *audits, len(said), *said[-1:], *compared, at)


def build(store: Store, reviews: ReviewStore, project: Row, control: str, links: Links) -> dict[str, Any]:
    """The report on one control of a project."""
    summary = project["summary"]["controls"][control]
    rows = list(_tasks(store, project["id"], control))
    names = {rater: name_of(project["raters"], rater) for rater in _raters(summary, rows)}
    done = reviews.done(project["id"])
    found = headline(summary)
    looks = queue(rows, names, done, links)
    audit = next((row for row in reviews.audits(project["id"]) if row["control"] == control and row["result"]), None)
    return {
        "schema_version": SCHEMA_VERSION,
        "generated_at": moment(time.time()),
        "project": {
            "id": project["number"],
            "title": project["title"] or f"Project {project['number']}",
            "link": links.project(),
        },
        "control": control,
        "controls": list(project["summary"]["controls"]),
        "n_tasks": len(rows),
        "n_compared": sum(row["agreement"] is not None for row in rows),
        "n_raters": summary["n_raters"],
        "headline": _headline(summary, found, rows, audit),
        "audit": _audit(reviews, audit, rows),
        "scored_link": links.scored("All tasks with an agreement"),
        "coefficients": _coefficients(summary, links),
        "expected_agreement": summary["expected_agreement"],
        "raters": _rater_rows(summary, rows, names, links),
        "rater_pairs": _pair_rows(summary, names, links),
        "names": names,
        "distributions": summary.get("distributions"),
        "over_time": _over_time(rows, links),
        "batches": _batches(rows, links),
        "histogram": _histogram(rows, links),
        "disagreements": _kinds(summary, links),
        "queue": looks[:QUEUE],
        "n_queue_open": sum(not entry["done"] for entry in looks),
        "n_queue_done": sum(bool(entry["done"]) for entry in looks),
        "excluded": _excluded(rows, names, links),
        "decisions": _decisions(store, reviews, project),
        "comparison": _comparison(store, reviews, project, control, summary),
        "warnings": list(summary.get("warnings", ())),
        "settings": project["summary"].get("settings"),
        "provenance": {
            **summary.get("provenance", {}),
            "computed_at": moment(project["summary_at"]),
            "seconds": project["summary"].get("seconds"),
        },
    }


def full_queue(store: Store, reviews: ReviewStore, project: Row, links: Links) -> list[dict[str, Any]]:
    """Every task with an agreement, in the order in which a review helps most."""
    rows = list(_tasks(store, project["id"], None))
    names = {rater: name_of(project["raters"], rater) for row in rows for rater in row["raters"]}
    return queue(rows, names, reviews.done(project["id"]), links)


def _tasks(store: Store, project: int, control: str | None) -> Iterable[dict[str, Any]]:
    columns = (
        tasks.c.number,
        tasks.c.updated_at,
        tasks.c.answers,
        tasks.c.answers_hash,
        tasks.c.agreement,
        tasks.c.details,
    )
    after = -1
    while True:
        with store.engine.connect() as connection:
            part = connection.execute(
                sa.select(*columns)
                .where(tasks.c.project == project, tasks.c.number > after)
                .order_by(tasks.c.number)
                .limit(2000)
            ).all()
        if not part:
            return
        after = part[-1].number
        for row in part:
            details = (row.details or {}).get("controls", {})
            chosen = [control] if control is not None else list(details)
            pairs = [pair for name in chosen for pair in details.get(name, {}).get("pairs", ())]
            values = [
                details[name]["agreement"]
                for name in chosen
                if name in details and details[name]["agreement"] is not None
            ]
            answers = [row.answers[name] for name in (chosen or row.answers) if name in row.answers]
            yield {
                "number": row.number,
                "updated_at": row.updated_at,
                "answers_hash": row.answers_hash,
                "agreement": sum(values) / len(values) if values else None,
                "pairs": pairs,
                "unmatched": {
                    rater: texts
                    for name in chosen
                    for rater, texts in details.get(name, {}).get("unmatched", {}).items()
                    if texts
                },
                "raters": list(dict.fromkeys(rater for entry in answers for rater in entry["answers"])),
                "excluded": [(str(rater), reason) for entry in answers for rater, reason in entry["excluded"]],
            }


def _raters(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = dict.fromkeys(rater["id"] for rater in summary["raters"])
    found |= dict.fromkeys(rater for row in rows for rater, _ in row["excluded"])
    return list(found)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _headline(
    summary: Mapping[str, Any],
    found: tuple[str, Mapping[str, Any]] | None,
    rows: Sequence[Mapping[str, Any]],
    audit: Row | None,
) -> dict[str, Any]:
    n = sum(row["agreement"] is not None for row in rows)
    if found is None:
        reason = (summary["coefficients"].get("krippendorff_alpha") or {}).get(
            "undefined"
        ) or "there is nothing to compare"
        return {"name": None, "value": None, "sentence": f"There is no agreement to report yet: {reason}."}
    name, coefficient = found
    base = {
        "key": name,
        "name": NAMES[name],
        "value": coefficient["value"],
        "ci95": coefficient.get("ci95"),
        "n_tasks": n,
    }
    plain = sentence(name, coefficient, summary, n)
    if audit is not None:
        corrected = audit["result"]["coefficients"].get(name)
        if corrected and corrected.get("value") is not None:
            judgements = audit["result"].get("audit", {}).get("judgements")
            return base | {
                "value": corrected["value"],
                "ci95": corrected.get("ci95"),
                "audited": True,
                "judgements": judgements,
                "plain": {"value": coefficient["value"], "ci95": coefficient.get("ci95")},
                "sentence": f"{sentence(name, corrected, summary, n)} This value is audited: {judgements} judgements of people about "
                f"randomly drawn pairs stand behind it. Without them it would read {coefficient['value']:.2f}.",
            }
    return base | {"audited": False, "sentence": plain}


def sentence(name: str, coefficient: Mapping[str, Any], summary: Mapping[str, Any], n_tasks: int) -> str:
    """What the headline means, in plain words."""
    value, interval = coefficient["value"], coefficient.get("ci95")
    raters = summary["n_raters"]
    basis = f"over {n_tasks:,} {'task' if n_tasks == 1 else 'tasks'} answered by {raters} {'annotator' if raters == 1 else 'annotators'}"
    if name == "observed_agreement":
        return f"Two answers to the same task are equivalent at {value:.2f} on average, {basis}. Agreement beyond chance is not defined here."
    degree = next(
        text
        for limit, text in (
            (0.0, "Annotators agree no more than chance would have it"),
            (0.2, "Annotators agree hardly more than by chance"),
            (0.4, "Annotators agree somewhat beyond chance"),
            (0.6, "Annotators agree moderately beyond chance"),
            (0.8, "Annotators agree well beyond chance"),
            (math.inf, "Annotators agree very well"),
        )
        if value <= limit
    )
    certain = ""
    if interval:
        certain = f" (95% confidence: {interval[0]:.2f} to {interval[1]:.2f})"
    text = f"{degree}: {NAMES[name]} is {value:.2f}{certain}, {basis}."
    observed = summary["coefficients"].get("observed_agreement", {}).get("value")
    expected = summary["expected_agreement"].get(EXPECTED.get(name, ""))
    if observed is not None and expected is not None:
        text += f" Answers to the same task are equivalent at {observed:.2f} on average, where chance alone would give {expected:.2f}."
    if interval and interval[1] - interval[0] > 0.3:
        text += " The interval is wide: more tasks would make this more certain."
    return text


def _coefficients(summary: Mapping[str, Any], links: Links) -> list[dict[str, Any]]:
    expected = summary["expected_agreement"]
    return [
        {
            "key": key,
            "name": NAMES.get(key, key),
            "meaning": MEANINGS.get(key, ""),
            **coefficient,
            "expected": expected.get(EXPECTED[key])
            if key in EXPECTED and coefficient.get("value") is not None
            else None,
            "link": links.scored("All tasks with an agreement"),
        }
        for key, coefficient in summary["coefficients"].items()
    ]


def _rater_rows(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], links: Links
) -> list[dict[str, Any]]:
    left_out: dict[str, list[int]] = {}
    for row in rows:
        for rater, _ in row["excluded"]:
            left_out.setdefault(rater, []).append(row["number"])
    disagreements = summary.get("disagreements") or {}
    tendency = disagreements.get("tendency", {})
    known = {rater["id"]: rater for rater in summary["raters"]}
    found = []
    for rater, name in names.items():
        entry = known.get(rater, {"id": rater, "n_items": 0, "agreement": None})
        leaning = tendency.get(rater, {"general": 0, "specific": 0})
        found.append(
            {
                "id": rater,
                "name": name,
                "n_items": entry["n_items"],
                "agreement": entry["agreement"],
                "ci95": entry.get("agreement_ci95"),
                "cohen_kappa": (entry.get("cohen_kappa") or {}).get("value"),
                "left_out": len(left_out.get(rater, ())),
                "left_out_link": links.tasks(list(dict.fromkeys(left_out[rater])), f"Answers of {name} left out")
                if rater in left_out
                else None,
                "general": leaning["general"],
                "specific": leaning["specific"],
                "tendency": tendency_words(**leaning) if disagreements.get("directional") else None,
                "link": links.annotated_by([rater], f"Answered by {name}"),
            }
        )
    return sorted(found, key=lambda one: (one["agreement"] is None, one["agreement"] or 0.0, one["name"]))


def tendency_words(general: int, specific: int) -> str:
    """Whether someone leans to general or specific texts: a sign test that needs a clear majority."""
    total = general + specific
    if not total:
        return "no differences"
    # the one-sided chance of such a majority, were both equally likely
    majority = max(general, specific)
    if total <= 1000:
        tail = sum(math.comb(total, k) for k in range(majority, total + 1)) / 2**total
    else:
        tail = math.erfc((2 * majority - total - 1) / math.sqrt(2 * total)) / 2
    if tail > 0.05:
        return "neither"
    return "more general" if general > specific else "more specific"


def _pair_rows(summary: Mapping[str, Any], names: Mapping[str, str], links: Links) -> list[dict[str, Any]]:
    found = []
    for pair in summary["rater_pairs"]:
        a, b = pair["raters"]
        found.append(
            {
                "raters": [a, b],
                "names": [names.get(a, a), names.get(b, b)],
                "n_items": pair["n_items"],
                "observed_agreement": pair["observed_agreement"],
                "ci95": pair.get("observed_agreement_ci95"),
                "expected_agreement": pair["expected_agreement"],
                "cohen_kappa": (pair.get("cohen_kappa") or {}).get("value"),
                "link": links.annotated_by([a, b], f"{names.get(a, a)} and {names.get(b, b)}"),
            }
        )
    return found


def _kinds(summary: Mapping[str, Any], links: Links) -> dict[str, Any] | None:
    found = summary.get("disagreements")
    if not found:
        return None
    return {
        "directional": found["directional"],
        "kinds": [
            {
                "kind": kind["kind"],
                "name": KIND_NAMES[kind["kind"]],
                "n": kind["n"],
                "pairs": [
                    {**pair, "link": links.tasks(pair["tasks"], KIND_NAMES[kind["kind"]].partition(":")[0])}
                    for pair in kind["pairs"]
                ],
            }
            for kind in found["kinds"]
        ],
    }


def queue(
    rows: Iterable[Mapping[str, Any]], names: Mapping[str, str], done: Mapping[int, Row], links: Links
) -> list[dict[str, Any]]:
    """Tasks in the order in which a review helps most, those that are done at the end."""
    by_number = {row["number"]: row for row in rows if row["agreement"] is not None}
    candidates = ordered(candidate(n, row["agreement"], row["pairs"], row["unmatched"]) for n, row in by_number.items())
    found = []
    for one in candidates:
        mark = done.get(one.task)
        current = mark is not None and mark["answers_hash"] == by_number[one.task]["answers_hash"]
        found.append(
            {
                **one.to_dict(),
                "word": word(one.agreement),
                "reasons": one.reasons(names),
                "link": links.task(one.task),
                "done": {"who": mark["reviewer"], "when": moment(mark["at"])} if mark is not None and current else None,
            }
        )
    return sorted(found, key=lambda entry: entry["done"] is not None)


def _histogram(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    bins = [0] * 10
    for row in rows:
        if row["agreement"] is not None:
            bins[min(9, int(row["agreement"] * 10))] += 1
    return [
        {
            "low": i / 10,
            "high": (i + 1) / 10,
            "n": n,
            "link": links.agreement(i / 10, (i + 1) / 10, f"Agreement {i / 10:.1f} to {(i + 1) / 10:.1f}"),
        }
        for i, n in enumerate(bins)
    ]


def _group(label: str, rows: Sequence[Mapping[str, Any]], link: str) -> dict[str, Any]:
    values = [row["agreement"] for row in rows]
    mean = sum(values) / len(values)
    interval = None
    if len(values) > 1:
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
        interval = [max(0.0, mean - 1.96 * deviation), min(1.0, mean + 1.96 * deviation)]
    return {"label": label, "n": len(values), "agreement": mean, "ci95": interval, "link": link}


def _over_time(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """By the day of a task's last change; by month where days are many."""
    dated = [row for row in rows if row["agreement"] is not None and row["updated_at"]]
    for length in (10, 7):
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in dated:
            groups.setdefault(row["updated_at"][:length], []).append(row)
        if len(groups) <= 60:
            break
    return [
        _group(day, found, links.tasks([row["number"] for row in found], f"Changed {day}"))
        for day, found in sorted(groups.items())
    ]


def _batches(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """Equal parts in the order of import."""
    compared = [row for row in rows if row["agreement"] is not None]
    n = min(BATCHES, len(compared) // 5)
    if n < 2:
        return []
    found = []
    for i in range(n):
        part = compared[i * len(compared) // n : (i + 1) * len(compared) // n]
        first, last = part[0]["number"], part[-1]["number"]
        found.append(_group(f"{first} to {last}", part, links.range(first, last, f"Tasks {first} to {last}")))
    return found


def _excluded(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], links: Links) -> dict[str, Any]:
    every = [(row["number"], rater, reason) for row in rows for rater, reason in row["excluded"]]
    reasons = Counter(reason for _, _, reason in every)
    shown = [
        {"task": task, "rater": rater, "name": names.get(rater, rater), "reason": reason}
        for task, rater, reason in every
    ]
    return {
        "n": len(every),
        "reasons": [
            {
                "reason": reason,
                "n": n,
                "link": links.tasks(
                    list(dict.fromkeys(task for task, _, why in every if why == reason)), f"Left out: {reason}"
                ),
            }
            for reason, n in reasons.most_common()
        ],
        "answers": [{**row, "link": links.task(row["task"])} for row in shown[:EXCLUDED]],
        "all": shown,
    }


def _decisions(store: Store, reviews: ReviewStore, project: Row) -> dict[str, Any]:
    rows = store.decisions(project["id"])
    kept = reviews.calibration(project["id"])
    return {
        "n": len(rows),
        "same": sum(bool(row["same"]) for row in rows),
        "needed": calibration_of_project.FROM,
        "calibration": calibration_of_project.view(kept),
        "problem": kept["problem"] if kept is not None else None,
    }


def _audit(reviews: ReviewStore, row: Row | None, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if row is None:
        return None
    result = row["result"]
    plain = result.get("audit", {}).get("plain", {})
    now = {str(one["number"]): one["answers_hash"][:16] for one in rows}
    whole = reviews.audit(row["id"])
    then = (whole["drawn_from"] if whole else None) or {}
    return {
        "id": row["id"],
        "measure": row["measure"],
        "coefficients": {
            key: {"name": NAMES.get(key, key), "plain": plain.get(key), **value}
            for key, value in result["coefficients"].items()
            if value.get("value") is not None
        },
        **result.get("audit", {}),
        "n_changed": sum(now.get(task) != then.get(task) for task in {*now, *then}),
        "finished_at": moment(row["result_at"]),
        "drawn_at": moment(row["created_at"]),
    }


def _comparison(
    store: Store, reviews: ReviewStore, project: Row, control: str, summary: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What was compared on demand, beside the measure in use."""
    kept = reviews.comparison(project["id"], control)
    if kept is None:
        return None
    current = {"measure": summary["measure"], "coefficients": summary["coefficients"], "current": True}
    others = [row for row in kept["result"] or () if row["measure"] != summary["measure"]]
    rows = [
        {
            "measure": row["measure"],
            "current": row.get("current", False),
            "error": row.get("error"),
            "values": [(row.get("coefficients") or {}).get(key) or {"value": None, "ci95": None} for key in KEPT],
        }
        for row in (current, *others)
    ]
    return {
        "names": [NAMES[key] for key in KEPT],
        "keys": list(KEPT),
        "rows": rows if kept["result"] else [],
        "at": moment(kept["result_at"]),
        "waiting": kept["wanted_at"] is not None,
        "stale": bool(kept["result"]) and kept["based_on"] != state(store, project),
    }
