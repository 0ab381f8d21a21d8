"""The reference of an evaluation is no person, and a model is compared with people only."""

from __future__ import annotations

from pathlib import Path

import softirr
from softirr.planning.plan_models import plan_models
from tests.planning.examples import PEOPLE, Cli, rows_of, table_of, written


def test_a_reference_is_no_person(tmp_path: Path, cli: Cli) -> None:
    rows = rows_of(40, {**PEOPLE, "model:m": 0.6, "reference": 1.0})
    whole = table_of(rows)
    people = table_of([row for row in rows if row[1] != "reference"])
    with_reference, alone = (
        softirr.compare_raters(table, measure="exact", epsilon=0.15, difference_types=True) for table in (whole, people)
    )
    assert with_reference.differences == alone.differences and with_reference.groups == alone.groups
    assert with_reference.alternative == alone.alternative and with_reference.others == alone.others
    against = {one.other for one in with_reference.difference_types if one.items}
    assert against == {*PEOPLE, "reference"}
    note = "The rater reference is not a person, so it counts only in the types of difference."
    assert note in with_reference.warnings and note not in alone.warnings
    path = written(tmp_path / "a.csv", rows)
    plan = plan_models(whole, measure="exact"), plan_models(people, measure="exact")
    assert plan[0].to_dict() == plan[1].to_dict()
    assert "reference minus others" in cli("compare", path, "--models", "reference", "--measure", "exact")


def test_a_model_is_compared_with_people_over_time() -> None:
    rows = rows_of(40, {**PEOPLE, "model:a": 0.8, "model:b": 0.1, "reference": 1.0})
    fields = {row[0]: {"day": row[0]} for row in rows}
    whole, part = (
        softirr.compare_time(
            table_of([row for row in rows if row[1] in raters], fields), "day", "exact", rater="model:a"
        )
        for raters in ({row[1] for row in rows}, {*PEOPLE, "model:a"})
    )
    assert whole.to_dict() == part.to_dict()
