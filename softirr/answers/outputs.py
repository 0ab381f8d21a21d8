"""Answers of models from files of their own, joined to the answers of people by the ids of the items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from softirr.answers.layout import listed
from softirr.answers.table import MODEL, REFERENCE, AnnotationTable, Answer
from softirr.errors import InputError
from softirr.plural import plural

__all__ = ["with_outputs"]


def with_outputs(table: AnnotationTable, outputs: Mapping[str, AnnotationTable]) -> AnnotationTable:
    """A table of people with the answers of models to the same items.

    Parameters
    ----------
    table : AnnotationTable
    outputs : mapping of str to AnnotationTable
        The answers of models by the name of their file. Each rater is a model, but in a log whose raters are named
        ``model:NAME`` only these are: its reference and its people are left out.

    Returns
    -------
    AnnotationTable
        A model is the rater ``model:NAME``. Answers to other items are left out, with a warning. The warnings of a
        file have its name.

    Raises
    ------
    InputError
        If a file has none of the items, or a model has a name that is taken.

    Examples
    --------
    >>> people = AnnotationTable.from_answers([Answer("1", "ann", "fever"), Answer("1", "bob", "high fever")])
    >>> log = AnnotationTable.from_answers([Answer("1", "gpt", "fever")])
    >>> with_outputs(people, {"log.jsonl": log}).raters
    ('ann', 'bob', 'model:gpt')
    """
    answers = list(_answers(table))
    warnings, excluded, taken, known = list(table.warnings), list(table.excluded), set(table.raters), set(table.items)
    for name, output in outputs.items():
        if known.isdisjoint(output.items):
            raise InputError(
                f"{name} has none of the items: its ids are {listed(output.items[:3])}, and the others "
                f"{listed(table.items[:3])}. Items are matched by their ids."
            )
        models = [rater for rater in output.raters if rater.startswith(MODEL)]
        names = {rater: rater for rater in models} or {rater: MODEL + rater for rater in output.raters}
        names.pop(REFERENCE, None)
        if people := [rater for rater in output.raters if rater not in names and rater != REFERENCE]:
            warnings.append(f"Left out: the raters of {name} that are not models: {listed(people)}.")
        for model in names.values():
            if model in taken:
                raise InputError(f"{name}: there are answers of {model} already.")
            taken.add(model)
        warnings += [f"{name}: {warning}" for warning in output.warnings]
        if more := len(set(output.items) - known):
            warnings.append(f"Left out: {plural(more, 'item')} of {name} that the others have not answered.")
        answers += [
            Answer(one.item, names[one.rater], one.texts)
            for one in _answers(output)
            if one.item in known and one.rater in names
        ]
        excluded += [replace(one, rater=names[one.rater]) for one in output.excluded if one.rater in names]
    return AnnotationTable.from_answers(
        answers,
        items=table.items,
        excluded=excluded,
        casefold=table.casefold,
        warnings=warnings,
        fields={
            item: {name: values[number] for name, values in table.fields.items()}
            for number, item in enumerate(table.items)
        },
    )


def _answers(table: AnnotationTable) -> list[Answer]:
    rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
    return [Answer(table.items[item], table.raters[rater], table.texts_of(answer)) for item, rater, answer in rows]
