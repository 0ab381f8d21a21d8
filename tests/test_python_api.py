"""The public functions as Python users call them: data frames where tables are, and options that `help()` shows."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pandas as pd
import pytest

import softirr

WORDS = ["fever", "cough", "rash", "pain"]
FRAME = pd.DataFrame(
    [
        {
            "item": str(n),
            "rater": who,
            "text": WORDS[(n + (n % 3 == 0) * (who == "bob")) % 4],
            "site": "xy"[n % 2],
            "day": n,
        }
        for n in range(20)
        for who in ("ann", "bob", "model:one")
    ]
)
TABLE = softirr.read(FRAME, fields=["site", "day"])
FUNCTIONS: dict[str, Any] = {
    "agreement": lambda table: softirr.agreement(table, "exact").to_dict()["coefficients"],
    "item_agreement": lambda table: softirr.item_agreement(table, "exact"),
    "krippendorff_alpha": lambda table: softirr.krippendorff_alpha(table, measure="exact"),
    "compare": lambda table: softirr.compare([table, table], "exact").differences,
    "compare_models": lambda table: softirr.compare_models(table, measure="exact").differences,
    "audit.draw_sheet": lambda table: softirr.audit.draw_sheet(table, "indel", judgments=5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
class TestTables:
    def test_a_data_frame_is_its_table(self, name: str) -> None:
        assert FUNCTIONS[name](FRAME) == FUNCTIONS[name](TABLE)

    @pytest.mark.parametrize("table", [3, "answers.csv", ["fever"]], ids=str)
    def test_anything_else_is_refused(self, name: str, table: Any) -> None:
        with pytest.raises(softirr.InputError, match="data frame is needed, not a"):
            FUNCTIONS[name](table)


@pytest.mark.parametrize("tables", [3, FRAME, TABLE, [FRAME]], ids=["number", "frame", "table", "one"])
def test_one_table_is_not_compared(tables: Any) -> None:
    with pytest.raises(softirr.InputError, match="at least two tables"):
        softirr.compare(tables, "exact")


def test_help_shows_every_option() -> None:
    """`measure` alone passes on what it is given: the options of models differ."""
    functions = {name: getattr(softirr, name) for name in softirr.__all__} | {"apply": softirr.audit.apply}
    hiding = [
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and any(one.kind is inspect.Parameter.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
    ]
    assert hiding == ["measure"]


@pytest.mark.parametrize(
    "function",
    [softirr.agreement, softirr.audit.apply, softirr.cohen_kappa, softirr.fleiss_kappa, softirr.krippendorff_alpha],
)
def test_an_option_of_agreement_is_shown_with_its_meaning(function: Any) -> None:
    parameters, text = inspect.signature(function).parameters, inspect.getdoc(function) or ""
    assert parameters["chance"].default == "auto" and parameters["cache"].default == "auto"
    assert text.count("\nchance : ") == text.count("\nseed : ") == 1 and "**keywords" not in text
    one_list = function is softirr.cohen_kappa
    shown = [one.name for one in fields(softirr.ReadOptions) if one.name in parameters]
    assert shown == ["casefold", "missing"] if one_list else len(shown) == len(fields(softirr.ReadOptions))
