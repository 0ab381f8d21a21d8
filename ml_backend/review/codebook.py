"""The codebook of a project: the scorer process makes it on request, reviewers' decisions apply when it is shown."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from ml_backend.review.project_work import ProjectWork
from ml_backend.scoring.decided import verdicts
from ml_backend.settings import ProjectSettings
from ml_backend.store.codebooks import CodebookStore
from ml_backend.store.schema import tasks
from ml_backend.store.store import Row, Store
from softirr.errors import InputError
from softirr.report.codebook import Comparisons
from softirr.report.codebook_entries import Codebook, Entry

__all__ = ["codebook_of", "named", "pairs_to_merge", "pairs_to_part", "run_wanted", "state"]


def run_wanted(work: ProjectWork) -> int:
    """Compare the texts of the requested codebooks; returns their number. An unusable measure leaves a sentence."""
    store, project, kept = work.store, work.project, CodebookStore(work.store)
    wishes = kept.wanted(project["id"])
    for wish in wishes:
        based_on = state(store, project)
        progress = work.progress("codebook")
        try:
            comparisons = work.scorer.compare_texts(work.answers(), wish["control"], work.settings, progress=progress)
        except InputError as error:
            kept.put(wish, None, problem=str(error))
        else:
            kept.put(wish, comparisons.to_dict(), based_on=based_on)
    return len(wishes)


def state(store: Store, project: Row) -> str:
    """Hash of the answers in a codebook, without decisions, which apply when it is shown."""
    with store.engine.connect() as connection:
        query = sa.select(tasks.c.number, tasks.c.answers_hash).where(tasks.c.project == project["id"])
        hashes = connection.execute(query.order_by(tasks.c.number)).all()
    return hashlib.sha256(repr(list(map(tuple, hashes))).encode()).hexdigest()


def codebook_of(row: Row, decisions: Sequence[Mapping[str, Any]], settings: ProjectSettings) -> Codebook:
    """The codebook of a stored row under these decisions; raters by their ids."""
    decided = verdicts(decisions, casefold=settings.casefold)
    return Comparisons.from_dict(row["comparisons"]).codebook(decided, threshold=settings.threshold)


def named(book: Codebook, name: Callable[[str], str]) -> Codebook:
    """The codebook with raters by their names."""

    def total(raters: Mapping[str, int]) -> dict[str, int]:
        totals: Counter[str] = Counter()
        for rater, n in raters.items():
            totals[name(rater)] += n
        return dict(sorted(totals.items()))

    entries = [
        replace(entry, wordings=tuple(replace(one, raters=total(one.raters)) for one in entry.wordings))
        for entry in book.entries
    ]
    return replace(book, entries=tuple(entries))


def pairs_to_merge(
    book: Codebook, decisions: Iterable[Mapping[str, Any]], names: Sequence[str]
) -> list[tuple[str, str]]:
    """Pairs to decide as the same, so that the entries with these names become one.

    They are the names, and the texts of these entries that were decided to be different before.

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
    """Pairs to decide as different, so that a text leaves its entry.

    They pair the text with the entry's name, and with the texts that were decided to be the same before.

    Raises
    ------
    InputError
        If it is no text of an entry with several, or its name.
    """
    entry = next((one for one in book.entries if any(w.text == text for w in one.wordings)), None)
    if entry is None or entry.name == text:
        raise InputError("A text that is the name of its entry can't be removed from it.")
    pairs = [(text, entry.name)]
    inside = {one.text for one in entry.wordings}
    for row in decisions:
        a, b = row["text_a"], row["text_b"]
        if row["same"] and text in (a, b) and {a, b} <= inside:
            pairs.append((a, b))
    return list(dict.fromkeys(pairs))


def _entry(book: Codebook, name: str) -> Entry:
    match = next((entry for entry in book.entries if entry.name == name), None)
    if match is None:
        raise InputError("The codebook changed meanwhile: there is no entry of this name.")
    return match
