"""A number and its noun agree: 1 item, 2 items."""

import re
from pathlib import Path

import pytest

from softirr.cli.main import main
from softirr.numbers import plural

NOUNS = (
    *("items", "tasks", "texts", "pairs", "rows", "raters", "annotators", "judgments", "answers", "files", "judges"),
    *("regions", "concepts", "entries", "groups", "units", "reviewers", "decisions", "models", "columns"),
    *("predictions", "projects", "differences", "fields", "coders", "cells", "times", "codes", "passages"),
    *("annotations", "values"),
)
ONE = re.compile(rf"(?<![\d.,])1 (?:(?:more|other|distinct|different|judged) )?(?:{'|'.join(NOUNS)})\b")


@pytest.mark.parametrize(
    ("n", "nouns", "expected"),
    [
        (1, ("item",), "1 item"),
        (0, ("item",), "0 items"),
        (1234, ("item",), "1,234 items"),
        (1, ("row repeats", "rows repeat"), "1 row repeats"),
        (2, ("row repeats", "rows repeat"), "2 rows repeat"),
    ],
)
def test_a_number_with_its_noun(n: int, nouns: tuple[str, ...], expected: str) -> None:
    assert plural(n, *nouns) == expected


@pytest.mark.parametrize(
    "command",
    [
        ("score",),
        ("inspect",),
        ("score", "--output", "out"),
        ("compare", "--measures", "exact", "indel"),
        ("audit", "sample", "--judgments", "1"),
        ("score", "--split", "commas"),
        ("score", "--chance", "permutation", "--permutations", "1"),
    ],
)
@pytest.mark.parametrize(
    "rows", ["1,ann,a cough\n1,ben,cough\n", "1,ann,fever\n1,ann,a cough\n1,ben,fever\n2,ann,n/a\n"]
)
def test_no_command_calls_one_thing_many(
    tmp_path: Path, command: tuple[str, ...], rows: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f"item,rater,text\n{rows}")
    out = tmp_path / "out"
    call, options = (command[:2], command[2:]) if command[0] == "audit" else (command[:1], command[1:])
    options = tuple(str(out) if option == "out" else option for option in options)
    measure = () if command[0] in ("inspect", "compare") else ("--measure", "indel", "--cache", "none")
    assert main([*call, str(path), *options, *measure]) in (0, 2)
    files = [file.read_text() for file in out.rglob("*") if file.suffix in (".md", ".html", ".txt")]
    assert bool(files) == ("--output" in command)
    assert ONE.findall("\n".join([*capsys.readouterr(), *files])) == []
