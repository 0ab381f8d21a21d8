"""Tables and sheets that are filled in with known judgments."""

from __future__ import annotations

import csv
import io

import softirr
from softirr import AnnotationTable, Answer
from tests.statistics.evidence.concepts import answers, concept, truth

COEFFICIENTS = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha")


def single(**options):
    return AnnotationTable.from_answers(answers(**options))


def filled(sheet, say=truth):
    """The sheet's CSV as a judge gives it back."""
    out = io.StringIO()
    writer = csv.writer(out)
    for number, row in enumerate(csv.reader(io.StringIO(sheet.to_csv()))):
        writer.writerow(row if number == 0 else [*row[:4], say(row[2], row[3])])
    return out.getvalue()


def gold(table):
    """The coefficients of the true concepts."""
    rows = zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True)
    concepts = AnnotationTable.from_answers(
        Answer(table.items[i], table.raters[r], tuple(concept(t) for t in table.texts_of(a))) for i, r, a in rows
    )
    return {name: c.value for name, c in softirr.agreement(concepts, "exact").coefficients.items()}
