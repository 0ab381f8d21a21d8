"""The codebook of a project: made by the scorer process on request, with reviewers' decisions applied whenever it is shown."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from ml_backend.review import calibration as calibration_of_project
from ml_backend.scoring.decided import verdicts
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import ProjectSettings
from ml_backend.store.codebooks import CodebookStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from softirr.errors import InputError
from softirr.report.codebook import Codebook, Comparisons, Entry

__all__ = ["made", "named", "pairs_to_merge", "pairs_to_part", "run_wanted", "state"]


def run_wanted(
    store: Store,
    scorer: Scorer,
    project: Row,
    settings: ProjectSettings,
    *,
    report: Callable[[str, int, int | None, int], None] = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Compare the texts of the requested codebooks; returns their number. A measure that can't be used leaves a sentence."""
    kept = CodebookStore(store)
    wishes = kept.wanted(project["id"])

    def progress(done: int, total: int) -> None:
        check()
        report("codebook", done, total, done)

    for wish in wishes:
        based_on = state(store, project)
        try:
            found = scorer.compare_texts(
                store.answers(project["id"]),
                wish["control"],
                settings,
                calibration=calibration_of_project.current(store, project["id"], settings.measure_name),
                progress=progress,
            )
        except InputError as error:
            kept.put(wish, None, problem=str(error))
        else:
            kept.put(wish, found.to_dict(), based_on=based_on)
    return len(wishes)


def state(store: Store, project: Row) -> str:
    """Hash of the answers that a codebook is made of; decisions have no part in it, because they are applied when it is shown."""
    with store.engine.connect() as connection:
        query = sa.select(tasks.c.number, tasks.c.answers_hash).where(tasks.c.project == project["id"])
        found = connection.execute(query.order_by(tasks.c.number)).all()
    return hashlib.sha256(repr(list(map(tuple, found))).encode()).hexdigest()


def made(row: Row, decisions: Sequence[Mapping[str, Any]], settings: ProjectSettings) -> Codebook:
    """The codebook of a stored row under these decisions; raters by their ids."""
    decided = verdicts(decisions, casefold=settings.casefold)
    return Comparisons.from_dict(row["comparisons"]).codebook(decided, threshold=settings.threshold)


def named(book: Codebook, name: Callable[[str], str]) -> Codebook:
    """The codebook with raters by their names."""

    def total(raters: Mapping[str, int]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for rater, n in raters.items():
            found[name(rater)] += n
        return dict(sorted(found.items()))

    entries = [
        replace(entry, wordings=tuple(replace(one, raters=total(one.raters)) for one in entry.wordings))
        for entry in book.entries
    ]
    return replace(book, entries=tuple(entries))


def pairs_to_merge(
    book: Codebook, decisions: Iterable[Mapping[str, Any]], names: Sequence[str]
) -> list[tuple[str, str]]:
    """Pairs to decide as the same, so that the entries with these names become one: their names, and what was parted between them before.

    Raises
    ------
    InputError
        If there is no such entry.
    """
    first, *others = [_entry(book, name) for name in names]
    pairs = [(first.name, other.name) for other in others]
    of = {one.text: entry.id for entry in (first, *others) for one in entry.wordings}
    for row in decisions:
        a, b = row["text_a"], row["text_b"]
        if not row["same"] and a in of and b in of and of[a] != of[b]:
            pairs.append((a, b))
    return pairs


def pairs_to_part(book: Codebook, decisions: Iterable[Mapping[str, Any]], text: str) -> list[tuple[str, str]]:
    """Pairs to decide as different, so that a text leaves its entry: with the entry's name, and with what was merged with it before.

    Raises
    ------
    InputError
        If it is no text of an entry with several, or its name.
    """
    entry = next((one for one in book.entries if any(w.text == text for w in one.wordings)), None)
    if entry is None or entry.name == text:
        raise InputError("Only a text that is not the name of its entry can be parted from it.")
    pairs = [(text, entry.name)]
    inside = {one.text for one in entry.wordings}
    for row in decisions:
        a, b = row["text_a"], row["text_b"]
        if row["same"] and text in (a, b) and {a, b} <= inside:
            pairs.append((a, b))
    return list(dict.fromkeys(pairs))


def _entry(book: Codebook, name: str) -> Entry:
    found = next((entry for entry in book.entries if entry.name == name), None)
    if found is None:
        raise InputError("The codebook changed meanwhile: there is no entry of this name.")
    return found
