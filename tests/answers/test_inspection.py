"""Inspection of a file before anything is scored."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest

import softirr
from tests import Cli
from tests.answers.formats import COMMANDS, FORMATS

TABLE = "id,ann,bob,comment\n1,fever,fever,\n2,сыпь,,unsure\n3,,,\n"


def test_every_figure() -> None:
    (field,) = softirr.inspect(io.StringIO(TABLE), item="id", raters=["ann", "bob"]).values()
    assert (field.format, field.n_rows, field.columns[0]) == ("csv", 3, ("item", "id"))
    assert (field.n_items, field.n_answers, field.n_compared) == (3, 3, 1)
    assert field.raters == (("ann", 2), ("bob", 1))
    assert (field.n_missing, field.n_blank, field.blank_is, field.n_empty) == (3, 3, "missing", 0)
    assert (field.n_texts, field.n_duplicates, field.texts_per_answer) == (2, 1, {1: 3})
    assert field.rows[0] == ("1", "ann", ("fever",))
    (inspection,) = softirr.inspect(io.StringIO(TABLE), item="id", raters=["ann", "bob"], empty="none").values()
    assert (inspection.n_missing, inspection.n_empty, inspection.blank_is) == (0, 3, "none")


def test_a_table_made_of_answers() -> None:
    from softirr.answers.inspection import inspected

    field = inspected(softirr.AnnotationTable.from_answers([softirr.Answer("1", "a", ())]))
    assert (field.format, field.n_empty) == (None, 1)


@pytest.mark.parametrize("name", ["wide CSV", "Label Studio JSON", "Prodigy", "doccano"])
def test_the_command(name: str, tmp_path: Path, cli: Cli) -> None:
    words = ["inspect", str(FORMATS[name](tmp_path)), *shlex.split(COMMANDS[name])[3:]]
    output = cli(*words)
    assert "5, 5 of them with answers of two raters or more" in output
    assert "high blood pressure" in output
    (field,) = cli(*words, "--json").values()
    assert (field["n_items"], field["n_answers"], field["n_missing"]) == (5, 12, 3)


def test_one_rater_is_shown_too(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.csv").write_text("item,rater,text\n1,ann,x\n1,ann,y\x1b[31m\n")
    output = cli("inspect", tmp_path / "a.csv")
    assert "1 with 2 texts" in output
    assert "\x1b" not in output


@pytest.mark.parametrize(
    "texts, language",
    [
        (("pain in the chest", "cough", "fever since Monday"), "English"),
        (("Schmerzen in der Brust", "Husten und Fieber", "kein Fieber", "Schmerzen mit Husten"), "German"),
        (("fever", "cough", "rash"), None),
    ],
)
def test_inspect_prints_the_language_if_the_texts_show_it(
    texts: tuple[str, ...], language: str | None, tmp_path: Path, cli: Cli
) -> None:
    rows = [f"{item},{rater},{text}" for item, text in enumerate(texts) for rater in "ab"]
    (tmp_path / "a.csv").write_text("\n".join(["item,rater,text", *rows]), encoding="utf-8")
    line = next(line for line in cli("inspect", tmp_path / "a.csv").splitlines() if line.startswith("language"))
    assert line.split(maxsplit=1)[1].startswith(language or "not recognized")
    (field,) = cli("inspect", tmp_path / "a.csv", "--json").values()
    assert field["language"] == language
