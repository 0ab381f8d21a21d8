"""The sentences about an audit say what its numbers are."""

from __future__ import annotations

from dataclasses import replace

import pytest

import softirr
from softirr.audit.workflow import Judgements, apply, audit_lines, draw_sheet
from softirr.statistics.coefficients.registry import coefficient_name


@pytest.fixture(scope="module")
def report() -> softirr.AgreementReport:
    rows = [(str(i), who, f"{who} finds {i // 2}") for i in range(20) for who in ("ann", "bob")]
    table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    sheet = draw_sheet(table, "indel", judgments=20)
    values = {(unit.id, 1): "same" if k % 3 else "different" for k, unit in enumerate(sheet.units)}
    return apply(table, "indel", [Judgements("eve", values)])


def test_each_coefficient_has_a_sentence_with_its_numbers(report: softirr.AgreementReport) -> None:
    text, audit = "\n".join(audit_lines(report)), report.audit
    assert audit is not None and {off > 0 for off in audit.off.values() if off} == {True, False}
    for name, off in audit.off.items():
        one = report.coefficients[name]
        if one.value is None:
            assert coefficient_name(name) not in text
            continue
        line = f"{coefficient_name(name)}: {one.value:.3f}"
        line += f" (95% interval {one.ci95[0]:.3f} to {one.ci95[1]:.3f})" if one.ci95 else ""
        direction = "" if off is None else ("high" if off > 0 else "low")
        plain = audit.plain[name]
        line += (
            f"; by the measure alone {plain:.3f}, {abs(plain - one.value):.3f} too {direction}." if direction else "."
        )
        assert line in text.splitlines()


@pytest.mark.parametrize(
    ("judged", "asked", "sentence"),
    [
        (1, 1, "1 of 1 pair of texts is judged."),
        (0, 2, "0 of 2 pairs of texts are judged."),
        (2, 1200, "2 of 1,200 pairs of texts are judged."),
    ],
)
def test_pairs_are_counted(report: softirr.AgreementReport, judged: int, asked: int, sentence: str) -> None:
    assert report.audit is not None
    counted = replace(report, audit=replace(report.audit, judgments=judged, asked=asked))
    assert next(audit_lines(counted)) == sentence
