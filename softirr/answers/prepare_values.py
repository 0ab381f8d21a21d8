"""Values of fields that are not texts: cells with several values, and invalid values of the kind of the field."""

from __future__ import annotations

import re
from collections.abc import Iterable

from softirr.answers.kinds import NO_VALUE
from softirr.answers.layout import shown
from softirr.answers.preparation import Work
from softirr.answers.table import Excluded
from softirr.errors import InputError, option
from softirr.plural import plural
from softirr.text import is_blank, normalize

_SEMICOLON = re.compile("[;；؛]")
_SINGLE = ("ordinal", "interval", "date", "ranking")
"""Kinds of controls that usually have a single value."""


def separate_values(work: Work) -> None:
    """Separate the values in a cell, so that marks for a missing answer are found among them."""
    if not work.kind.is_list or work.raw.is_separate:
        return
    for key, answer in list(work.answers.items()):
        texts = tuple(value.strip() for text in answer.texts or () for value in _SEMICOLON.split(text))
        work.put(key, answer, texts)


def read_values(work: Work) -> None:
    """Leave out answers without a value of the kind of the field."""
    kind = work.kind
    if kind.is_text:
        return
    n_empty = 0
    for key, answer in list(work.answers.items()):
        texts = tuple(text for text in answer.texts or () if not is_blank(text))
        if not texts and not kind.keeps_empty and work.settings.empty != "none":
            n_empty += 1
            work.put(key, answer, None)
        elif texts != answer.texts:
            work.put(key, answer, texts)
    if n_empty:
        work.notes.append(
            f"Answers without a value: {n_empty:,}. They count as missing; {option('empty', 'none')} counts them as "
            "answers that differ from every value."
        )
    _check_values(work)
    _note_unseparated(work)
    n_several = sum(len(answer.texts or ()) > 1 for answer in work.answers.values())
    if n_several and work.raw.is_separate and kind.name in _SINGLE:
        work.notes.append(
            f"{plural(n_several, 'annotation has', 'annotations have')} several values of {shown(work.raw.name)}, as "
            "of several regions: they count as a set."
        )


def _note_unseparated(work: Work) -> None:
    """Note that no value of the table has the mark that joins several."""
    mark = ">" if work.kind.name in ("path", "ranking") else ";" if work.kind.is_list else ""
    texts = [answer.texts for answer in work.answers.values() if answer.texts]
    has_mark = any(len(answer_texts) > 1 or mark in answer_texts[0] for answer_texts in texts)
    if mark and texts and not has_mark and not work.raw.is_separate:
        work.notes.append(
            f"No answer has the mark {mark} of the kind {shown(work.kind.name)} ({work.kind.values}), so each counts "
            f"as one whole, as {shown(texts[0][0])!r}."
        )


def _check_values(work: Work) -> None:
    kind = work.kind
    values = {text: normalize(text) for answer in work.answers.values() for text in answer.texts or ()}
    wrong = {text for text, form in values.items() if not kind.is_value(form)}
    bad = {key: answer for key, answer in work.answers.items() if not wrong.isdisjoint(answer.texts or ())}
    if not bad:
        return
    (item, rater), answer = min(bad.items(), key=lambda entry: entry[0])
    example = f"item {shown(item)}, rater {shown(rater)}: {shown(_first(answer.texts or (), wrong))!r}"
    if len(bad) == sum(bool(answer.texts) for answer in work.answers.values()):
        raise InputError(f"No answer has a value of the kind {shown(kind.name)} ({kind.values}), as {example}.")
    for key in bad:
        work.excluded.append(Excluded(*key, NO_VALUE))
        del work.answers[key]
    work.notes.append(
        f"Answers that are no value of the kind {shown(kind.name)} ({kind.values}): {len(bad):,}. They are left out, "
        f"as {example}."
    )


def _first(texts: Iterable[str], wrong: set[str]) -> str:
    return next(normalize(text) for text in texts if text in wrong)
