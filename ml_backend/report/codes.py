"""Concepts of a project's answers by its terminologies.

The rows of the CSV file, and how much of the texts is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ml_backend.scoring.stored_answers import PLACE, table_of
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Store
from softirr.numbers import number
from softirr.plural import plural
from softirr.statistics.coefficients.registry import coefficient_name

__all__ = ["HEADER", "code_table", "coverage"]

HEADER = ("task", "annotator", "text", "concept", "name", "score", "how")


def code_table(
    store: Store, project: int, control: str, settings: ProjectSettings, names: Mapping[str, str], indexes: Path
) -> Iterator[list[Any]]:
    """A row for each text of each answer and each of its concepts, the header first.

    Parameters
    ----------
    store : Store
    project : int
        Its key in the store.
    control : str
    settings : ProjectSettings
        With the terminologies.
    names : mapping
        Names of the annotators.
    indexes : Path
        Folder of the indexes of terminologies.

    Raises
    ------
    InputError
        If a terminology can't be read.
    """
    from softirr.meaning.policy.simplified import simplifications
    from softirr.meaning.terminology.coder import Coder
    from softirr.meaning.terminology.index import open_index
    from softirr.report.codes import code_rows

    table = table_of(store.answers(project), control, settings)
    coder = Coder([open_index(path, cache=indexes) for path in settings.terminologies], simplify=simplifications)
    yield list(HEADER)
    for item, rater, *rest in code_rows(table, coder):
        yield [item.partition(PLACE)[0], names.get(rater, rater), *rest]


def coverage(report: Mapping[str, Any]) -> str:
    """What the terminologies know of the texts, in a sentence; empty where there are none.

    Parameters
    ----------
    report : mapping
        The report on one field (:func:`ml_backend.report.data.build`).
    """
    codes = report.get("codes")
    if not codes or not codes["texts"]:
        return ""
    sentence = (
        f"They know {codes['known_texts']:,} of {plural(codes['texts'], 'different text')}, "
        f"{'which is' if codes['known_texts'] == 1 else 'which are'} {codes['coverage_of_answers']:.0%} "
        "of the texts given."
    )
    alpha = (codes["coefficients"].get("krippendorff_alpha") or {}).get("value")
    return (
        sentence
        if alpha is None
        else f"{sentence} Agreement on the concepts: {coefficient_name('krippendorff_alpha')} {number(alpha)}."
    )
