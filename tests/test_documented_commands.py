"""Every command and option in the documentation exists and does what the documentation shows.

A command that no test can run belongs into ``NOT_RUN``, with the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from string import Template

import pytest

import softirr
import softirr.cli.main
from tests.answers.formats import annotation_tools, table_files
from tests.documentation import PAGES, REFERENCE, ROOT, SCIENCE, blocks, programs, shown
from tests.meaning.terminology.terms import FEVER_OBO

NOT_RUN = {
    "make demo": "tests/labelstudio/test_demo.py runs the demo",
    "make test": "it runs this test",
    "python3 -m venv": "makes an environment, as tests/test_packaging.py does",
    "pip install": "changes the environment; tests/test_packaging.py installs the wheel",
    "export": "sets variables of the commands that follow",
    "softirr-ls": "needs a Label Studio; tests/labelstudio runs every command",
    "sqlite3": "needs a store; tests/ml_backend runs the commands of the page",
    "cp": "part of restoring a store; tests/ml_backend runs the commands of the page",
    "rm": "part of restoring a store; tests/ml_backend runs the commands of the page",
    "pg_restore": "needs a PostgreSQL server; tests/ml_backend runs the commands of the page",
    "pg_dump": "needs a PostgreSQL server; tests/ml_backend runs the commands of the page",
    "curl": "needs a running backend; tests/ml_backend asks for the same addresses",
    "ray start": "needs several machines; tests/inference/test_ray.py runs a cluster of several nodes",
    "softirr score answers.csv --engine ray": "needs the same",
}
"""First words of a command -> reason why no test runs it here. All commands of softirr and softirr-ls are parsed."""

MODEL_IS_SLOW = ["--measure", "indel"]
"""Options of commands without a measure, except in the README: their documented effect does not depend on the model."""


def _long_options(parser: argparse.ArgumentParser) -> set[str]:
    actions = (action for action in parser._actions if action.help != argparse.SUPPRESS)
    return {name for action in actions for name in action.option_strings if name.startswith("--")} - {"--help"}


COMMAND_LINE = PAGES[f"{REFERENCE}command-line.md"]


@pytest.mark.parametrize("name", sorted(programs()))
def test_every_option_of_every_command_is_documented(name: str) -> None:
    assert re.search(rf"{re.escape(name)}\b", COMMAND_LINE), f"docs/reference/command-line.md: {name} is missing."
    missing = sorted(
        option for option in _long_options(programs()[name]) if not re.search(rf"`{option}\b(?!-)", COMMAND_LINE)
    )
    assert missing == [], f"docs/reference/command-line.md, {name}: {', '.join(missing)}."


def test_every_documented_option_exists() -> None:
    # --python and the like belong to other programs; those are in code blocks, and parsed below.
    matches = set(re.findall(r"`(--[a-z][a-z-]*)", COMMAND_LINE))
    existing = set().union(*(_long_options(parser) for parser in programs().values()))
    assert matches - existing - {"--help"} == set()


_NUMBER = re.compile(r"\((\d[\d.,]*)(?=[;)])")


@pytest.mark.parametrize("name", sorted(name for name in programs() if name.startswith("softirr ")))
def test_defaults_are_the_same_in_the_program_its_help_and_the_documentation(name: str) -> None:
    sections = [text for text in re.split(r"^#+ ", COMMAND_LINE, flags=re.MULTILINE) if text.startswith(name)]
    rows = [row for text in sections for row in text.splitlines() if row.startswith("| `--")]
    for action in programs()[name]._actions:
        shown_matches = _NUMBER.findall(action.help or "")
        if not shown_matches or not action.option_strings:
            continue
        if isinstance(action.default, int | float):
            assert float(shown_matches[-1].replace(",", "")) == action.default, action.help
        for row in rows:
            head, _, text = row.partition(" | ")
            matches = _NUMBER.findall(text)
            if f"`{action.option_strings[-1]} " in head and matches:
                assert shown_matches[-1] in matches, f"docs/reference/command-line.md: {row}"


# --- commands that are shown ------------------------------------------------------------------------------------------


def _inline(page: str) -> list[str]:
    commands = r"`((?:softirr|softirr-ls|make) [^`]+)`"
    return [" ".join(command.split()) for command in re.findall(commands, (PAGES | SCIENCE)[page])]


def _why_not_run(command: str) -> str | None:
    command = re.sub(r"^([A-Z_]+=\S+ )+", "", command)
    return next((why for start, why in NOT_RUN.items() if f"{command} ".startswith(f"{start} ")), None)


def test_every_exception_is_on_a_page() -> None:
    lines = [re.sub(r"^([A-Z_]+=\S+ )+", "", line) for page in PAGES for line in shown(page)]
    assert [start for start in NOT_RUN if not any(f"{line} ".startswith(f"{start} ") for line in lines)] == []


def test_the_two_commands_come_first() -> None:
    assert [line for line in shown("README.md") if line.startswith("make")][:2] == ["make demo", "make test"]


@pytest.mark.parametrize("page", sorted(PAGES | SCIENCE))
def test_every_command_parses(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    variables: dict[str, str] = {}
    for line in shown(page) + _inline(page):
        words = shlex.split(Template(re.split(" [<>] ", line)[0]).safe_substitute(variables))
        variables |= dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        if not words:
            continue  # only variables
        program, *arguments = words
        if program == "make":
            assert set(arguments) <= targets, line
        elif program in ("softirr", "softirr-ls"):
            name, remaining = _split(program, arguments)
            assert name, line
            # The running text may name a command without what it requires.
            if remaining and not (
                len(remaining) == 1 and (remaining[0].isupper() or remaining[0] in ("--help", "--json"))
            ):
                _parses(programs()[name], remaining, line)
        else:
            assert _why_not_run(line), f"{page}: {line}: no test knows this command; say in NOT_RUN why it is not run."


def _split(program: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """The command's full name, of two words or three, and what follows it.

    Groups of commands have a name and nothing to parse.
    """
    for words in (2, 1):
        name = " ".join([program, *arguments[:words]])
        if name in programs():
            return name, arguments[words:]
        if any(program_name.startswith(f"{name} ") for program_name in programs()):
            return name, []
    return None, arguments


def _parses(parser: argparse.ArgumentParser, arguments: list[str], line: str) -> None:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            parser.parse_args(arguments)
    except SystemExit as end:
        if end.code != 0:
            pytest.fail(f"{line}: {printed.getvalue()}")


def _shown_files(page: str) -> dict[str, str]:
    """Files that a page shows: a line begins with a name in backticks, and a block of CSV or plain text follows."""
    pattern = r"^`([\w-]+\.(?:csv|obo|tsv))`[^\n]*:\n\n```(?:csv|text)\n(.*?)```"
    return dict(re.findall(pattern, PAGES[page], flags=re.DOTALL | re.MULTILINE))


def _many_answers() -> str:
    """The demo's answers as CSV: enough of them for an audit."""
    from ml_backend.demo import example

    lines = ["item,rater,text"]
    for task in example.narratives():
        for rater, texts in task.answers.items():
            lines += [f'{task.id},{rater},"{text}"' for text in texts or ()]
    return "\n".join(lines) + "\n"


def _people_and_models() -> str:
    """Three people who are right on four of five items, a model that is always right, and one that never is."""
    words = ("fever", "cough", "skin rash", "nausea", "back pain")
    lines = ["item,rater,text"]
    for item in range(60):
        right, wrong = words[item % 5], words[(item + 1 + item // 5 % 4) % 5]
        people = [wrong if item % 5 == n else right for n in range(3)]
        raters = zip(("ann", "ben", "cleo", "model:good", "model:bad"), (*people, right, wrong), strict=True)
        lines += [f"{item},{rater},{text}" for rater, text in raters]
    return "\n".join(lines) + "\n"


def test_people_and_a_model_have_the_verdicts_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "docs/how-to/compare.md"
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(name, "python")
    exec(compile(example, name, "exec"), {})
    assert sorted((tmp_path / "people.csv").read_text().splitlines()) == sorted(_people_and_models().splitlines())
    (verdicts,) = blocks(name, "text")
    command = next(line for line in shown(name) if "--models" in line)
    assert softirr.cli.main.main(shlex.split(command)[1:]) == 0
    assert verdicts in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(page for page in PAGES if page != "README.md"))
def test_every_command_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [line for line in shown(page) if not _why_not_run(line)]
    answers = _many_answers()
    head, *rows = answers.splitlines()
    for name, part_rows in (("v1.csv", rows[: len(rows) // 2]), ("v2.csv", rows[len(rows) // 2 :])):
        days = [int(row.split(",")[0].strip("N")) for row in part_rows]
        with_fields = [
            f"{row},{'Basel' if day % 2 else 'Bern'},{day}" for row, day in zip(part_rows, days, strict=True)
        ]
        (tmp_path / name).write_text("\n".join([f"{head},site,day", *with_fields]) + "\n", encoding="utf-8")
    weighted = [f"{row},{1 + int(row.split(',')[0].strip('N')) % 3}" for row in rows]
    (tmp_path / "weighted.csv").write_text("\n".join([f"{head},share", *weighted]) + "\n", encoding="utf-8")
    models = _people_and_models()
    files = {"answers.csv": answers, "people-and-models.csv": models, "people.csv": models, "hp.obo": FEVER_OBO}
    for name, text in (files | _shown_files(page)).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    table_files.wide_csv(tmp_path)
    annotation_tools.label_studio(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in commands:
        command, _, target = line.partition(" > ")
        command, _, source = command.partition(" < ")
        program, *arguments = shlex.split(command)
        assert program == "softirr", f"{page}: {line}: no test runs this program."
        name, _ = _split(program, arguments)
        if name and "--measure" in _long_options(programs()[name]) and "--measure" not in arguments:
            arguments += MODEL_IS_SLOW
        if source:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(source).read_bytes())))
        assert softirr.cli.main.main(arguments) == 0, f"{page}: {line}: {capsys.readouterr().err}"
        printed = capsys.readouterr().out
        assert printed, line
        if target:  # a sheet, judged as on the page
            Path(target).write_text(_judged(printed), encoding="utf-8")


def _judged(sheet: str) -> str:
    """The sheet with every third pair judged the same."""
    head, *rows = sheet.splitlines()
    marks = ["same" if n % 3 == 0 else "different" for n in range(len(rows))]
    return "\n".join([head, *(f"{row}{mark}" for row, mark in zip(rows, marks, strict=True))]) + "\n"


def test_readme_shows_the_output_of_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (table,) = blocks("README.md", "csv")
    command = next(line for line in shown("README.md") if line.startswith("softirr score answers.csv"))
    (output,) = blocks("README.md", "text")
    (tmp_path / "answers.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    # one number format, so that the digits are the same on every processor
    assert softirr.cli.main.main([*shlex.split(command)[1:], "--precision", "float32"]) == 0
    _assert_same_output(capsys.readouterr().out, output)


def _assert_same_output(printed: str, expected: str) -> None:
    """Same words; numbers may differ in the last digit."""
    number = re.compile(r"-?\d+\.\d+")
    assert number.sub("#", printed).split() == number.sub("#", expected).split()
    values, expected_values = ([float(digits) for digits in number.findall(text)] for text in (printed, expected))
    assert values == pytest.approx(expected_values, abs=0.0101)


@pytest.mark.slow
def test_language_recipe_shows_the_items_of_each_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "docs/recipes/languages.md"
    for name, text in _shown_files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    head, *items = blocks(page, "text")[-1].splitlines()
    printed = [head]
    for command in shown(page):
        assert softirr.cli.main.main([*shlex.split(command)[1:], "--precision", "float32"]) == 0
        lines = capsys.readouterr().out.splitlines()
        start = lines.index(head) + 1
        printed += lines[start : start + len(items) // len(shown(page))]
    _assert_same_output("\n".join(printed), "\n".join([head, *items]))


@pytest.mark.parametrize("page", sorted(page for page in PAGES if blocks(page, "python")))
def test_python_examples_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answers.csv").write_text(blocks("README.md", "csv")[0])
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), {})
        assert capsys.readouterr().out.strip() or "print" not in block
