"""The documentation tells all there is and nothing that is not.

Options, routes, variables, keys, names, commands, examples and links.

To mend a failure, write the missing thing into the page that the message names. A command that no test can run belongs
into ``NOT_RUN``, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

import ml_backend.cli
import ml_backend.demo
import softirr
import softirr.cli.bench
import softirr.cli.experiment
import softirr.cli.main
import softirr.cli.train
from softirr.report.fields import field_row
from tests.tables import formats

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "docs/reference/"

NOT_RUN = {
    "make demo": "tests/labelstudio/test_demo.py runs the demo",
    "make test": "it runs this test",
    "python3 -m venv": "makes an environment, as tests/test_packaging.py does",
    "pip install": "changes the environment; tests/test_packaging.py installs the wheel",
    "export": "sets variables of the commands that follow",
    "softirr-ls": "needs a Label Studio; tests/labelstudio runs every command",
    "curl": "needs a running backend; tests/ml_backend asks for the same addresses",
    "ray start": "needs several machines; tests/inference/test_ray.py runs a cluster of several nodes",
    "softirr score answers.csv --engine ray": "needs the same",
    "softirr score answers.csv --measure nli:my-model": "needs a trained model; tests/lab/training trains one",
}
"""What a shown command begins with, and why it is not run here. All of softirr and softirr-ls are parsed."""

OBO = """format-version: 1.2

[Term]
id: HP:0001945
name: Fever
synonym: "Fevers" EXACT []

[Term]
id: HP:0012735
name: Cough
"""

MODEL_IS_SLOW = ["--measure", "indel"]
"""For commands that name no measure, but in the README: what they show does not depend on the model."""


def _pages() -> dict[str, str]:
    paths = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


PAGES = _pages()
SCIENCE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "softirr").rglob("*.md"))
}
"""Reports of what was measured: their commands are parsed, not run."""


@pytest.fixture(scope="module")
def readme() -> str:
    return PAGES["README.md"]


# --- the command line -------------------------------------------------------------------------------------------------


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every subcommand that does something, by its full name."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for sub, its in action.choices.items():
            yield from _commands(its, f"{name} {sub}")
    if not below:
        yield name, parser


@cache
def _programs() -> dict[str, argparse.ArgumentParser]:
    found = dict(_commands(softirr.cli.main.parser(), "softirr")) | dict(
        _commands(ml_backend.cli.parser(), "softirr-ls")
    )
    found["softirr-ls demo"] = ml_backend.demo.parser()
    # These two hand everything on to a parser of their own.
    found["softirr train"] = softirr.cli.train.parser()
    del found["softirr experiment"]
    found |= dict(_commands(softirr.cli.experiment.parser(), "softirr experiment"))
    return found


def _long_options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")} - {"--help"}


COMMAND_LINE = PAGES[f"{REFERENCE}command-line.md"]


@pytest.mark.parametrize("name", sorted(_programs()))
def test_every_option_of_every_command_is_documented(name: str) -> None:
    assert re.search(rf"{re.escape(name)}\b", COMMAND_LINE), f"docs/reference/command-line.md: {name} is missing."
    missing = sorted(
        option for option in _long_options(_programs()[name]) if not re.search(rf"`{option}\b(?!-)", COMMAND_LINE)
    )
    assert missing == [], f"docs/reference/command-line.md, {name}: {', '.join(missing)}."


def test_every_documented_option_exists() -> None:
    # --python and the like belong to other programs; those are in code blocks, and parsed below.
    written = set(re.findall(r"`(--[a-z][a-z-]*)", COMMAND_LINE))
    existing = set().union(*(_long_options(parser) for parser in _programs().values()))
    assert written - existing - {"--help"} == set()


_NUMBER = re.compile(r"\((\d[\d.,]*)(?=[;)])")


@pytest.mark.parametrize("name", sorted(name for name in _programs() if name.startswith("softirr ")))
def test_defaults_are_the_same_in_the_program_its_help_and_the_documentation(name: str) -> None:
    sections = [text for text in re.split(r"^#+ ", COMMAND_LINE, flags=re.MULTILINE) if text.startswith(name)]
    rows = [row for text in sections for row in text.splitlines() if row.startswith("| `--")]
    for action in _programs()[name]._actions:
        shown = _NUMBER.findall(action.help or "")
        if not shown or not action.option_strings:
            continue
        if isinstance(action.default, int | float):
            assert float(shown[-1].replace(",", "")) == action.default, action.help
        for row in rows:
            head, _, text = row.partition(" | ")
            written = _NUMBER.findall(text)
            if f"`{action.option_strings[-1]} " in head and written:
                assert shown[-1] in written, f"docs/reference/command-line.md: {row}"


def test_every_bench_is_documented() -> None:
    written = set(re.findall(r"^\| `softirr bench (\w+)`", COMMAND_LINE, flags=re.MULTILINE))
    assert written == set(softirr.cli.bench.BENCHES)


# --- commands that are shown ------------------------------------------------------------------------------------------


def _blocks(page: str, language: str) -> list[str]:
    text = (PAGES | SCIENCE)[page]
    return re.findall(rf"^ *```{language}\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)


def _shown(page: str) -> list[str]:
    """Commands in shell blocks; lines that end with a backslash are joined."""
    text = "\n".join(_blocks(page, "(?:sh|bash|shell|console)")).replace("\\\n", " ")
    return [re.split(r"\s#", line)[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def _inline(page: str) -> list[str]:
    commands = r"`((?:softirr|softirr-ls|make) [^`]+)`"
    return [" ".join(found.split()) for found in re.findall(commands, (PAGES | SCIENCE)[page])]


def _why_not_run(command: str) -> str | None:
    command = re.sub(r"^([A-Z_]+=\S+ )+", "", command)
    return next((why for start, why in NOT_RUN.items() if f"{command} ".startswith(f"{start} ")), None)


def test_what_is_not_run_is_shown_somewhere() -> None:
    shown = [re.sub(r"^([A-Z_]+=\S+ )+", "", line) for page in PAGES for line in _shown(page)]
    assert [start for start in NOT_RUN if not any(f"{line} ".startswith(f"{start} ") for line in shown)] == []


def test_the_two_commands_come_first() -> None:
    assert [line for line in _shown("README.md") if line.startswith("make")][:2] == ["make demo", "make test"]


@pytest.mark.parametrize("page", sorted(PAGES | SCIENCE))
def test_every_command_parses(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    variables: dict[str, str] = {}
    for line in _shown(page) + _inline(page):
        words = shlex.split(Template(re.split(" [<>] ", line)[0]).safe_substitute(variables))
        variables |= dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        if not words:
            continue  # only variables
        program, *arguments = words
        if program == "make":
            assert set(arguments) <= targets, line
        elif program in ("softirr", "softirr-ls"):
            name, rest = _split(program, arguments)
            assert name, line
            # The running text may name a command without what it requires.
            if rest and not (len(rest) == 1 and (rest[0].isupper() or rest[0] in ("--help", "--json"))):
                _parses(_programs()[name], rest, line)
        else:
            assert _why_not_run(line), f"{page}: {line}: no test knows this command; say in NOT_RUN why it is not run."


def _split(program: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """The command's full name, of two words or three, and what follows it.

    Groups of commands have a name and nothing to parse.
    """
    for words in (2, 1):
        name = " ".join([program, *arguments[:words]])
        if name in _programs():
            return name, arguments[words:]
        if any(other.startswith(f"{name} ") for other in _programs()):
            return name, []
    return None, arguments


def _parses(parser: argparse.ArgumentParser, arguments: list[str], line: str) -> None:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parser.parse_args(arguments)
    except SystemExit as end:
        if end.code != 0:
            pytest.fail(f"{line}: {said.getvalue()}")


def _shown_files(page: str) -> dict[str, str]:
    """Files that a page shows: a line begins with a name in backticks, and a block of CSV or plain text follows."""
    pattern = r"^`([\w-]+\.(?:csv|obo|tsv))`[^\n]*:\n\n```(?:csv|text)\n(.*?)```"
    return dict(re.findall(pattern, PAGES[page], flags=re.DOTALL | re.MULTILINE))


def _many_answers() -> str:
    """The demo's answers as CSV: enough of them for an audit."""
    from ml_backend.demo import data

    lines = ["item,rater,text"]
    for task in data.narratives():
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


def _two_exports(folder: Path) -> None:
    """The same as two files: the answers of the people, and a log of the models."""
    head, *rows = _people_and_models().splitlines()
    people = [row for row in rows if "model:" not in row]
    (folder / "people.csv").write_text("\n".join([head, *people]) + "\n", encoding="utf-8")
    calls = [row.replace("model:", "").split(",") for row in rows if "model:" in row]
    lines = [json.dumps({"id": item, "model": model, "response": text}) for item, model, text in calls]
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_two_exports_have_the_verdicts_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "docs/how-to/replace-an-annotator.md"
    monkeypatch.chdir(tmp_path)
    (example,) = _blocks(name, "python")
    exec(compile(example, name, "exec"), {})
    (tmp_path / "the tests").mkdir()
    _two_exports(tmp_path / "the tests")
    for file in ("people.csv", "log.jsonl"):
        assert (tmp_path / file).read_bytes() == (tmp_path / "the tests" / file).read_bytes()
    people, log, verdicts = _blocks(name, "text")
    assert (tmp_path / "people.csv").read_text(encoding="utf-8").startswith(people)
    assert (tmp_path / "log.jsonl").read_text(encoding="utf-8").startswith(log)
    assert softirr.cli.main.main(shlex.split(_shown(name)[0])[1:]) == 0
    assert verdicts in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(page for page in PAGES if page != "README.md"))
def test_every_command_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [line for line in _shown(page) if not _why_not_run(line)]
    answers = _many_answers()
    (tmp_path / "answers.csv").write_text(answers, encoding="utf-8")
    (tmp_path / "people-and-models.csv").write_text(_people_and_models(), encoding="utf-8")
    _two_exports(tmp_path)
    head, *rows = answers.splitlines()
    for name, part in (("v1.csv", rows[: len(rows) // 2]), ("v2.csv", rows[len(rows) // 2 :])):
        days = [int(row.split(",")[0].strip("N")) for row in part]
        told = [f"{row},{'Basel' if day % 2 else 'Bern'},{day}" for row, day in zip(part, days, strict=True)]
        (tmp_path / name).write_text("\n".join([f"{head},site,day", *told]) + "\n", encoding="utf-8")
    weighted = [f"{row},{1 + int(row.split(',')[0].strip('N')) % 3}" for row in rows]
    (tmp_path / "weighted.csv").write_text("\n".join([f"{head},share", *weighted]) + "\n", encoding="utf-8")
    (tmp_path / "hp.obo").write_text(OBO, encoding="utf-8")
    for name, text in _shown_files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    formats.wide_csv(tmp_path)
    formats.label_studio(tmp_path)
    formats.refi_qda(tmp_path)
    formats.refi_qda_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in commands:
        command, _, target = line.partition(" > ")
        command, _, source = command.partition(" < ")
        program, *arguments = shlex.split(command)
        assert program == "softirr", f"{page}: {line}: no test runs this program."
        name, _ = _split(program, arguments)
        if name and "--measure" in _long_options(_programs()[name]) and "--measure" not in arguments:
            arguments += MODEL_IS_SLOW
        if source:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(source).read_bytes())))
        assert softirr.cli.main.main(arguments) == 0, f"{page}: {line}: {capsys.readouterr().err}"
        printed = capsys.readouterr().out
        assert printed, line
        if target:  # a sheet, judged as the page says
            head, *rows = printed.splitlines()
            marks = ["same" if n % 3 == 0 else "different" for n in range(len(rows))]
            judged = [head, *(f"{row}{mark}" for row, mark in zip(rows, marks, strict=True))]
            Path(target).write_text("\n".join(judged) + "\n", encoding="utf-8")


# --- examples ---------------------------------------------------------------------------------------------------------


def test_the_example_prints_what_the_readme_shows(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (table,) = _blocks("README.md", "csv")
    command = next(line for line in _shown("README.md") if line.startswith("softirr score answers.csv"))
    (shown,) = _blocks("README.md", "text")
    (tmp_path / "answers.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    # one number format, so that the digits are the same on every processor
    assert softirr.cli.main.main([*shlex.split(command)[1:], "--precision", "float32"]) == 0
    number = re.compile(r"-?\d+\.\d+")
    printed = capsys.readouterr().out
    assert number.sub("#", printed).split() == number.sub("#", shown).split()
    # the last digit may be rounded the other way
    there = [float(found) for found in number.findall(printed)]
    assert there == pytest.approx([float(found) for found in number.findall(shown)], abs=0.0011)


@pytest.mark.parametrize("page", sorted(page for page in PAGES if _blocks(page, "python")))
def test_python_examples_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answers.csv").write_text(_blocks("README.md", "csv")[0])
    monkeypatch.chdir(tmp_path)
    for block in _blocks(page, "python"):
        exec(compile(block, page, "exec"), {})
        assert capsys.readouterr().out.strip() or "print" not in block


def test_tables_that_are_shown_can_be_read(tmp_path: Path) -> None:
    for page in PAGES:
        for block in _blocks(page, "csv"):
            (tmp_path / "shown.csv").write_text(block)
            assert softirr.read(tmp_path / "shown.csv").items, page


# --- HTTP and environment ---------------------------------------------------------------------------------------------


def test_every_http_address_is_documented(tmp_path: Path) -> None:
    from ml_backend.app import create_app
    from ml_backend.settings import Settings

    app = create_app(Settings.from_environment({"SOFTIRR_DATA": str(tmp_path)}))
    written = {
        re.sub(r"ID|\.\.\.", "<>", entry)
        for entry in re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)`", PAGES[f"{REFERENCE}http.md"])
    }
    existing = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint == "static":
            continue  # Flask's own
        address = re.sub(r"(<[^>]+>/?)+$", "<>", rule.rule)
        address = re.sub(r"<[^>]+>", "<>", address)
        existing |= {f"{method} {address}" for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    assert sorted(existing - written) == [], "docs/reference/http.md: these are missing."
    assert sorted(written - existing) == [], "docs/reference/http.md: these don't exist."


def _documented_variables() -> set[str]:
    return set(re.findall(r"`([A-Z][A-Z_]{3,})`", PAGES[f"{REFERENCE}environment.md"]))


def test_every_environment_variable_of_the_backend_is_documented() -> None:
    from ml_backend.settings import Settings

    read = {str(field.alias) for field in Settings.model_fields.values()} | {"LABEL_STUDIO_HOST"}
    assert sorted(read - _documented_variables()) == [], "docs/reference/environment.md: these are missing."


def test_every_environment_variable_of_the_science_is_documented() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "softirr").rglob("*.py")]
    read = {name for source in sources for name in re.findall(r"environ[^\n]*\"(SOFTIRR_[A-Z_]+)\"", source)}
    assert sorted(read - _documented_variables()) == [], "docs/reference/environment.md: these are missing."


# --- JSON -------------------------------------------------------------------------------------------------------------

COEFFICIENT = {"value", "standard_error", "ci95", "undefined"}
OF_THE_TABLE = {"judgments", "details"}
"""Further keys of a coefficient."""
DETAILS = {"by_measure", "items_only", "judgments_only", "any_time"}
OPEN = {"coefficients": "NAME", "texts": "RATER", "unmatched": "RATER", "plain": "NAME", "off": "NAME"}
OPEN = {
    "coefficients": "NAME",
    "by_closeness": "NAME",
    "texts": "RATER",
    "unmatched": "RATER",
    "plain": "NAME",
    "off": "NAME",
}
OPEN["written"] = "RATER"
OPEN["tendency"] = "RATER"
OPEN["kinds"] = "REASON"
OPEN |= {"needed_for_width": "WIDTH"}
"""Objects with keys that depend on the data, and what the documentation calls these."""


def _keys(value: Any, path: str = "", name: str = "") -> set[str]:
    """Every key below a JSON value, as the documentation writes it."""
    if isinstance(value, Mapping) and not set(value) >= COEFFICIENT and name != "judges_agreement":
        start = f"{path}." if path else ""
        return {
            key
            for inner, below in value.items()
            for key in _keys(below, f"{start}{OPEN.get(name, inner)}", "" if name in OPEN else inner)
        }
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return {key for entry in value for key in _keys(entry, f"{path}[]")}
    return {path}


def test_every_key_of_the_json_report_is_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: dict[int, list[tuple[str, ...] | None]] = {
        1: [("fever", "cough"), ("rash",), ("nausea",), ("pain",), ("rash",), ("alone",)],
        2: [("cough", "fevers"), ("a rash",), (), ("itch for many weeks",), ("rash all over the whole trunk",), None],
        3: [("fever, cough",), ("rash",), ("nausea",), ("itching",), ("rash",), None],
    }
    tasks = [
        {"id": n, "data": {"share": n + 1}, "annotations": [_annotation(who, all[n]) for who, all in said.items()]}
        for n in range(6)
    ]
    monkeypatch.chdir(tmp_path)
    Path("export.json").write_text(json.dumps(tasks))
    Path("terms.obo").write_text(OBO)
    options = ["--measure", "indel", "--split", "commas", "--terminology", "terms.obo"]
    assert softirr.cli.main.main(["audit", "sample", "export.json", *options]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    Path("sheet.csv").write_text("\n".join([head, *(f"{row}different" for row in rows)]))
    assert softirr.cli.main.main(["audit", "apply", "export.json", "sheet.csv", *options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    page = PAGES[f"{REFERENCE}json.md"]
    written = set(re.findall(r"^\| `([^`]+)`", page, flags=re.MULTILINE))
    assert written >= COEFFICIENT | OF_THE_TABLE
    assert written >= DETAILS
    documented = written - COEFFICIENT - OF_THE_TABLE - DETAILS
    assert softirr.cli.main.main(["score", "export.json", *options, "--weight", "share", "--json"]) == 0
    keys = _keys(report) | _keys(json.loads(capsys.readouterr().out))
    # pairs that a terminology knows
    names = [f"finding {letter * 3}" for letter in "abcdefghijkl"]
    Path("house").mkdir()
    Path("house", "concepts.tsv").write_text("".join(["id\tname\n", *(f"{name[-1]}\t{name}\n" for name in names)]))
    rows = [f"{n},ann,{a}\n{n},ben,{b}\n" for n, (a, b) in enumerate(pairwise(names))]
    Path("single.csv").write_text("".join(["item,rater,text\n", *rows]))
    single = ["score", "single.csv", "--measure", "indel", "--terminology", "house", "--json"]
    assert softirr.cli.main.main(single) == 0
    keys |= _keys(json.loads(capsys.readouterr().out))
    # a field that is no text
    Path("choices.csv").write_text("item,rater,side\n1,ann,left\n1,ben,right\n2,ann,left\n2,ben,left\n")
    assert softirr.cli.main.main(["score", "choices.csv", "--field", "side=nominal", "--json"]) == 0
    choices = json.loads(capsys.readouterr().out)
    keys |= _keys({"confusions": choices["confusions"]}) | _keys({"fields": [field_row("side", choices)]})
    Path("both.csv").write_text("item,rater,side,text\n1,ann,left,a\n1,ben,left,b\n2,ann,left,c\n2,ben,right,c\n")
    both = ["score", "both.csv", "--field", "side=nominal", "--field", "text=text", "--measure", "exact", "--json"]
    assert softirr.cli.main.main(both) == 0
    keys |= _keys({"labels_and_texts": json.loads(capsys.readouterr().out)["labels_and_texts"]})
    # a list that is empty in one place and not in another, an object that is null in one
    keys -= {key for key in keys if any(other.startswith((f"{key}[]", f"{key}.")) for other in keys)}
    assert sorted(keys - documented) == [], "docs/reference/json.md: these are missing."
    assert sorted(documented - keys) == [], "docs/reference/json.md: these don't exist."
    for name in report["coefficients"]:
        assert f"`{name}`" in page
    assert set(report["coefficients"]["cohen_kappa"]) == COEFFICIENT | OF_THE_TABLE
    assert set(report["coefficients"]["cohen_kappa"]["details"]) == DETAILS


def _annotation(who: int, texts: tuple[str, ...] | None) -> dict[str, Any]:
    """As in Label Studio's export; None is a skipped task."""
    value = {"text": list(texts or ())}
    result = [{"type": "textarea", "from_name": "findings", "to_name": "text", "value": value}] if texts else []
    return {"completed_by": who, "was_cancelled": texts is None, "result": result}


# --- Python -----------------------------------------------------------------------------------------------------------


def _documented_names(package: str) -> set[str]:
    names = re.findall(rf"^::: {re.escape(package)}\.(\w+)$", PAGES[f"{REFERENCE}python.md"], flags=re.MULTILINE)
    assert len(names) == len(set(names)), f"{package}: a name is documented twice."
    return set(names)


def _packages_with_public_names() -> list[str]:
    """softirr, and its packages that list what they offer."""
    found = ["softirr"]
    for path in sorted((ROOT / "softirr").glob("*/__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        if "__all__" in names and path.parent.name not in ("cli", "lab"):
            found.append(f"softirr.{path.parent.name}")
    return found


@pytest.mark.parametrize("package", _packages_with_public_names())
def test_every_public_name_is_documented(package: str) -> None:
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    if package == "softirr":
        public -= {name for name in public if f"softirr.{name}" in _packages_with_public_names()}
    documented = _documented_names(package)
    assert sorted(public - documented) == [], f"docs/reference/python.md, {package}: these are missing."
    assert sorted(documented - public) == [], f"docs/reference/python.md, {package}: these are not public."


# --- links and claims -------------------------------------------------------------------------------------------------


def test_every_file_that_is_linked_is_there() -> None:
    others = [*ROOT.glob("*.md"), *(ROOT / "softirr").rglob("*.md")]
    texts = PAGES | {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in others}
    missing = []
    for page, text in texts.items():
        for target in re.findall(
            r"\]\((?!https?:|mailto:|#)([^)#\s]+)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        ):
            if not ((ROOT / page).parent / target).exists():
                missing.append(f"{page}: {target}")
    assert missing == []
    assert any(".png" in text for text in texts.values())


def test_every_path_of_contributing_is_there() -> None:
    paths = re.findall(r"`((?:softirr|ml_backend|plugin|docs|tests)/[\w./]*)`", PAGES["CONTRIBUTING.md"])
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_true_alpha_of_the_example_is_the_documented_one() -> None:
    from ml_backend.demo import data, true_value

    tutorial = " ".join(PAGES["docs/tutorial.md"].split())
    assert f"the true alpha is known: {true_value():.2f}" in tutorial
    assert f"The example has {len(data.narratives())} short" in tutorial


def test_the_readme_is_short(readme: str) -> None:
    assert len(readme.splitlines()) <= 120, "Details belong into docs/."


def test_versions_agree(root: Path) -> None:
    import tomllib

    from ml_backend.demo.server import VERSION

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert citation["version"] == project["version"]
    for name in ("codemeta.json", ".zenodo.json"):
        assert json.loads((root / name).read_text())["version"] == project["version"], name
    assert f"label-studio=={VERSION}" in (root / ".ci" / "environment.py").read_text()
    pins = dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", (root / "constraints.txt").read_text(), flags=re.MULTILINE))
    names = {re.sub("[-_.]+", "-", name).lower() for name in pins}
    wanted = [
        *project["dependencies"],
        *(
            entry
            for extra in ("labelstudio", "lab", "dev", "docs", "postgres", "redis", "ray")
            for entry in project["optional-dependencies"][extra]
        ),
    ]
    required = {
        re.split(r"[\[<>=;! ]", entry, maxsplit=1)[0].lower().replace("_", "-")
        for entry in wanted
        if "win32" not in entry.replace("!= 'win32'", "")
    }
    assert sorted(required - names - {"softirr"}) == [], "constraints.txt: these are missing."
