"""Deciding how the answers of a project are split, and splitting those that are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ml_backend.labelstudio.answers import answers_hash, split_again
from ml_backend.labelstudio.marks import Opposites
from ml_backend.store.splittings import Decision
from softirr.answers.missing import MissingMarks
from softirr.meaning.policy.rules import Split
from softirr.meaning.policy.splitting import choose_splitting

__all__ = ["decide", "split_stored"]

AT_ONCE = 500
"""Tasks that are stored in one step."""

Stored = Iterable[tuple[int, Mapping[str, Any]]]


def decide(answers: Stored, controls: Sequence[str], mode: Split) -> dict[str, Decision]:
    """How the answers to some controls are split, from all answers of the project.

    Parameters
    ----------
    answers : iterable of (int, mapping)
        Numbers of tasks, and their answers as the store has them.
    controls : sequence of str
    mode : str
        As the policy says.

    Returns
    -------
    dict of str to Decision
        Without controls that nobody has answered.
    """
    texts: dict[str, list[str]] = {name: [] for name in controls}
    counts = dict.fromkeys(controls, 0)
    for _, entry in answers:
        for name in controls:
            for written in entry.get(name, {}).get("written", {}).values():
                texts[name] += written
                counts[name] += bool(written)
    decided = {}
    for name in controls:
        if texts[name]:
            splitting = choose_splitting(texts[name], mode)
            # texts that stand alone are asked for at "and" only
            decided[name] = Decision(
                splitting if "and" in splitting.marks else replace(splitting, alone=frozenset()), counts[name]
            )
    return decided


def split_stored(
    answers: Stored,
    decisions: Mapping[str, Decision],
    controls: Collection[str],
    marks: MissingMarks,
    opposites: Mapping[str, Opposites],
) -> Iterator[list[tuple[int, dict[str, Any], str]]]:
    """The answers that change with new decisions about some controls, in parts: number, answers, hash.

    Parameters
    ----------
    answers : iterable of (int, mapping)
    decisions : mapping
    controls : collection of str
    marks : MissingMarks
        Parts of answers that are missing.
    opposites : mapping of str to Opposites
        Which of these are answers to a control.

    Yields
    ------
    list of (int, dict, str)
    """
    part: list[tuple[int, dict[str, Any], str]] = []
    marks_of = {name: marks.beside(opposites.get(name, Opposites()).parts) for name in controls}
    for number, entry in answers:
        again = {
            name: split_again(given, decisions.get(name), marks_of[name]) if name in marks_of else given
            for name, given in entry.items()
        }
        if again != entry:
            part.append((number, again, answers_hash(again)))
        if len(part) >= AT_ONCE:
            yield part
            part = []
    if part:
        yield part
