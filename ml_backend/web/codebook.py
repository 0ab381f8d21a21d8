"""The codebook: its page, its data, and merging and parting of entries, which are reviewers' decisions."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request

from ml_backend.auth.browser_auth import HOW_TO_BE_KNOWN
from ml_backend.auth.requests import Refused, json_body
from ml_backend.auth.routes import current_person, current_project, current_reviewer
from ml_backend.review import codebook as books
from ml_backend.review.misfits import misfits_of
from ml_backend.review.panel_payload import job_view, moment
from ml_backend.review.rater_names import name_of
from ml_backend.store.codebooks import CodebookStore
from ml_backend.store.decisions import pair_hash
from ml_backend.store.store import Row
from ml_backend.web import arguments, decisions, responses
from ml_backend.web.pages import page_files
from ml_backend.web.running import job_of, services, settings_of
from softirr.errors import InputError
from softirr.report.codebook_entries import Codebook
from softirr.report.page.formats import FORMATS
from softirr.text import normalize

codebook = Blueprint("codebook", __name__)
codebook.register_error_handler(Refused, responses.refusal)
SHOWN = 200
MOST_MERGED = 20
_HEADER = ("entry", "name", "text", "answers", "tasks", "annotators")


@codebook.get("/codebook/<int:number>")
def show(number: int) -> Response:
    """The page: ``control``, ``q`` (only entries with a text that contains it), ``all=1`` (more than the first entries)."""
    project = current_project()
    control = arguments.field(project, request.args.get("control"))
    book = _book(project, control) if control else None
    wanted = normalize(request.args.get("q", ""))[:200]
    matching = [entry for entry in book.entries if _holds(entry, wanted)] if book is not None else []
    shown = matching if request.args.get("all") == "1" else matching[:SHOWN]
    who = current_person()
    text = render_template(
        "codebook.html",
        project=project,
        control=control,
        controls=arguments.fields(project),
        book=book,
        entries=shown,
        n_found=len(matching),
        q=wanted,
        misfits=misfits_of(project, control) if book is None else book.misfits,
        may_decide=who is not None and bool(who.known_by),
        how_to_be_known=HOW_TO_BE_KNOWN,
        **_status(project, control),
        **page_files("pages.css", "codebook.css", modules=("codebook.js",)),
        **FORMATS,
    )
    return responses.shown(project, text)


@codebook.get("/codebook/<int:number>/<name>")
def download(number: int, name: str) -> Response:
    """``codebook.tsv``, which ``--terminology`` reads, or ``codebook.csv`` with counts and annotators."""
    project = current_project()
    if name not in ("codebook.tsv", "codebook.csv"):
        raise Refused(404, f"There is no {name[:80]}; there are codebook.tsv and codebook.csv.")
    control = arguments.field(project, request.args.get("control"))
    book = _book(project, control) if control else None
    if book is None:
        raise Refused(409, "The codebook does not exist yet.")
    if name.endswith("csv"):
        rows = [
            (entry.id, entry.name, one.text, one.count, one.items, _uses(one.raters))
            for entry in book.entries
            for one in entry.wordings
        ]
        response = responses.csv_file([_HEADER, *rows], warnings=book.misfits)
    else:
        try:
            response = responses.text_file(book.to_tsv(), "tab-separated-values")
        except InputError as error:
            raise Refused(409, str(error)) from None
    return responses.attachment(response, f"codebook-{number}{name[-4:]}")


@codebook.get("/api/codebook")
def state() -> Response:
    """Whether the codebook is made, and its entries: ``project``, ``control``; with ``brief=1`` without entries."""
    project = current_project()
    control = arguments.field(project, request.args.get("control"))
    body = {
        "control": control,
        "misfits": misfits_of(project, control),
        **_status(project, control),
        "job": job_view(job_of(project)),
        "codebook": None,
    }
    if control and request.args.get("brief") != "1":
        book = _book(project, control)
        body["codebook"] = None if book is None else book.to_dict()
    return responses.data(body)


@codebook.post("/api/codebook")
def make() -> Response:
    """Ask for the codebook, or for an update of it: ``{"project", "control"}``; the scorer process makes it."""
    body, project = json_body(), current_project()
    control = arguments.field(project, body.get("control"))
    if control is None:
        raise Refused(409, "The project has not been scored yet.")
    CodebookStore(services().store).want(project["id"], control)
    services().wakeups.want(project["id"], "codebook")
    return responses.data({"wanted": control}, status=202)


@codebook.post("/api/codebook/decisions")
def decide() -> Response:
    """Merge entries or part a text: ``{"project", "control", "merge": [names]}`` or ``{"project", "control", "part": text}``.

    Either is a decision on pairs of texts, like decisions in the panel, and changes the codebook at once.
    """
    body, project = json_body(), current_project()
    who = current_reviewer()
    control = arguments.field(project, body.get("control"))
    book = _book(project, control) if control else None
    if book is None:
        raise Refused(409, "The codebook does not exist yet.")
    merge, part = body.get("merge"), body.get("part")
    earlier = services().store.decisions(project["id"])
    try:
        if isinstance(part, str) and merge is None:
            pairs = books.pairs_to_part(book, earlier, part)
        elif part is None and isinstance(merge, list) and _are_names(merge):
            pairs = books.pairs_to_merge(book, earlier, merge)
        else:
            raise Refused(400, f"Name either the entries to merge, 2 to {MOST_MERGED} of them, or one text to part.")
    except InputError as error:
        raise Refused(409, str(error)) from None
    if len(pairs) > decisions.MOST_PAIRS:
        raise Refused(409, "Too many earlier decisions contradict this: withdraw them in the panel first.")
    decisions.decide(services(), project, pairs, same=merge is not None, who=who, task=None)
    hashes = {pair_hash(normalize(a), normalize(b)) for a, b in pairs}
    numbers = [row["id"] for row in services().store.decisions(project["id"]) if row["pair"] in hashes]
    return responses.data({"decided": len(pairs), "decisions": numbers}, status=201)


# --- of the running app ---------------------------------------------------------------------------------------------


class _Books:
    """The last few codebooks that were shown."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Codebook] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, project: Row, control: str) -> Codebook | None:
        """The codebook under the present decisions; None where it is not made yet."""
        store = CodebookStore(services().store)
        stamp = store.stamp(project["id"], control)
        if stamp is None or stamp["made_at"] is None:
            return None
        current = services().store.decisions(project["id"])
        chosen = settings_of(project)
        last = (len(current), current[-1]["id"] if current else 0, sum(row["id"] for row in current))
        key = (project["id"], control, stamp["made_at"], chosen.threshold, str(project["raters"]), *last)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        row = store.get(project["id"], control)
        if row is None or row["comparisons"] is None:
            return None
        book = books.named(books.codebook_of(row, current, chosen), lambda rater: name_of(project["raters"], rater))
        with self._lock:
            self._kept[key] = book
            while len(self._kept) > 4:
                self._kept.popitem(last=False)
        return book


def _book(project: Row, control: str) -> Codebook | None:
    kept: _Books = current_app.extensions.setdefault("softirr-codebooks", _Books())
    book = kept.get(project, control)
    if book is None:
        return None
    return replace(book, misfits=tuple(dict.fromkeys((*misfits_of(project, control), *book.misfits))))


def _status(project: Row, control: str | None) -> dict[str, Any]:
    """When it was made, whether it waits to be, and whether answers changed since."""
    row = CodebookStore(services().store).stamp(project["id"], control) if control else None
    if row is None:
        return {"made_at": None, "waiting": False, "stale": False, "problem": None}
    return {
        "made_at": moment(row["made_at"]),
        "waiting": row["wanted_at"] is not None,
        "stale": row["made_at"] is not None and row["based_on"] != books.state(services().store, project),
        "problem": row["problem"],
    }


def _uses(raters: Mapping[str, int]) -> str:
    return "; ".join(f"{rater} ({n})" for rater, n in raters.items())


def _holds(entry: Any, wanted: str) -> bool:
    return not wanted or any(wanted.casefold() in one.text.casefold() for one in entry.wordings)


def _are_names(merge: list[Any]) -> bool:
    return (
        2 <= len(merge) <= MOST_MERGED
        and len(set(map(str, merge))) == len(merge)
        and all(isinstance(name, str) for name in merge)
    )
