"""The README tells all there is and nothing that isn't: every option, address and variable stands in it, every command in it parses.

To mend a failure, write the named thing into the section that the message names.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import ml_backend.cli
import ml_backend.demo
import softirr.cli.experiment
import softirr.cli.main
import softirr.cli.train


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every subcommand that does something, by its full name."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for sub, its in action.choices.items():
            yield from _commands(its, f"{name} {sub}")
    if not below:
        yield name, parser


def _programs() -> dict[str, argparse.ArgumentParser]:
    found = dict(_commands(softirr.cli.main.parser(), "softirr")) | dict(
        _commands(ml_backend.cli._parser(), "softirr-ls")
    )
    found["softirr-ls demo"] = ml_backend.demo.parser()
    # These two hand everything on to a parser of their own.
    found["softirr train"] = softirr.cli.train.parser()
    del found["softirr experiment"]
    found |= dict(_commands(softirr.cli.experiment.parser(), "softirr experiment"))
    return found


def _long_options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")} - {"--help"}


@pytest.mark.parametrize("name", sorted(_programs()))
def test_every_option_of_every_command_is_in_the_readme(name: str, readme: str) -> None:
    reference = readme.partition("## Reference")[2]
    assert re.search(rf"`?{re.escape(name)}\b", reference), f"README, Reference: {name} is missing."
    missing = sorted(
        option for option in _long_options(_programs()[name]) if not re.search(rf"`{option}\b(?!-)", reference)
    )
    assert missing == [], f"README, Reference, {name}: {', '.join(missing)}."


def test_every_bench_is_in_the_readme(readme: str) -> None:
    assert set(re.findall(r"^\| `softirr bench (\w+)`", readme, flags=re.MULTILINE)) == set(softirr.cli.main._BENCHES)


def test_every_option_in_the_readme_exists(readme: str) -> None:
    # --python and the like belong to other programs; those are in code blocks, and parsed below.
    written = set(re.findall(r"`(--[a-z][a-z-]*)", readme.partition("## Reference")[2]))
    existing = set().union(*(_long_options(parser) for parser in _programs().values()))
    assert written - existing - {"--help"} == set()


def _written_commands(readme: str) -> list[str]:
    """Commands in shell blocks and in the running text."""
    blocks = re.findall(r"^ *```sh\n(.*?)```", readme, flags=re.DOTALL | re.MULTILINE)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`((?:softirr|softirr-ls|make) [^`]+)`", readme)
    return [re.split(" #| > ", line)[0].strip() for line in lines + inline if line]


def test_the_two_commands_come_first(readme: str) -> None:
    assert [line for line in _written_commands(readme) if line.startswith("make")][:2] == ["make demo", "make test"]


def test_every_command_in_the_readme_parses(readme: str, root: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), flags=re.MULTILINE))
    seen = 0
    for line in _written_commands(readme):
        program, *arguments = [word for word in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=.*", word)]
        if program == "make":
            assert set(arguments) <= targets, line
        elif program in ("softirr", "softirr-ls"):
            name, rest = _split(program, arguments)
            assert name, line
            # The running text may name a command without what it requires.
            if rest and not (len(rest) == 1 and rest[0].isupper()):
                _parses(_programs()[name], rest, line)
        else:
            assert program in ("pip", "export"), f"{line}: no test knows this command."
        seen += 1
    assert seen > 10


def _split(program: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """The command's full name, of two words or three, and what follows it; groups of commands have a name and nothing to parse."""
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


def test_every_file_that_the_readme_points_to_is_there(readme: str, root: Path) -> None:
    pointed = set(re.findall(r"\]\((?!https?://|#)([^)#]+)", readme))
    assert any(name.endswith(".png") for name in pointed)
    assert sorted(name for name in pointed if not (root / name).is_file()) == []


def test_the_example_prints_what_the_readme_shows(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (table,) = re.findall(r"^```csv\n(.*?)```", readme, flags=re.DOTALL | re.MULTILINE)
    command = next(line for line in _written_commands(readme) if line.startswith("softirr score answers.csv"))
    shown = re.search(r"The answer:\n\n```text\n(.*?)```", readme, flags=re.DOTALL)
    assert shown
    (tmp_path / "answers.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    # one number format, so that the digits are the same on every processor
    assert softirr.cli.main.main([*shlex.split(command)[1:], "--precision", "float32"]) == 0
    number = re.compile(r"-?\d+\.\d+")
    printed, written = capsys.readouterr().out, shown.group(1)
    assert number.sub("#", printed).split() == number.sub("#", written).split()
    # the last digit may be rounded the other way
    there = [float(found) for found in number.findall(printed)]
    assert there == pytest.approx([float(found) for found in number.findall(written)], abs=0.0011)


def test_the_python_example_runs(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (table,) = re.findall(r"^```csv\n(.*?)```", readme, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "answers.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```python\n(.*?)```", readme, flags=re.DOTALL | re.MULTILINE):
        exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_every_http_address_is_in_the_readme(readme: str, tmp_path: Path) -> None:
    from ml_backend.app import create_app
    from ml_backend.settings import Settings

    app = create_app(Settings.from_environment({"SOFTIRR_DATA": str(tmp_path)}))
    section = readme.partition("### HTTP")[2].partition("\n## ")[0]
    written = {
        re.sub(r"ID|\.\.\.", "<>", entry) for entry in re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)`", section)
    }
    existing = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint == "static":
            continue  # Flask's own
        address = re.sub(r"(<[^>]+>/?)+$", "<>", rule.rule)
        address = re.sub(r"<[^>]+>", "<>", address)
        existing |= {f"{method} {address}" for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    assert sorted(existing - written) == [], "README, HTTP: these are missing."
    assert sorted(written - existing) == [], "README, HTTP: these don't exist."


def test_every_environment_variable_of_the_backend_is_in_the_readme(readme: str, root: Path) -> None:
    source = (
        (root / "ml_backend" / "settings.py")
        .read_text(encoding="utf-8")
        .partition("def from_environment")[2]
        .partition("@property")[0]
    )
    read = set(re.findall(r'"([A-Z][A-Z_]{3,})"', source)) - {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}
    assert len(read) > 10
    written = set(re.findall(r"`([A-Z][A-Z_]{3,})`", readme))
    assert sorted(read - written) == [], "README, Environment variables: these are missing."


def test_every_environment_variable_of_the_science_is_in_the_readme(readme: str, root: Path) -> None:
    sources = [path.read_text(encoding="utf-8") for path in (root / "softirr").rglob("*.py")]
    read = {name for source in sources for name in re.findall(r"environ[^\n]*\"(SOFTIRR_[A-Z_]+)\"", source)}
    written = set(re.findall(r"`([A-Z][A-Z_]{3,})`", readme))
    assert sorted(read - written) == [], "README, Environment variables: these are missing."


def test_the_true_alpha_of_the_example_is_the_one_in_the_readme(readme: str) -> None:
    from ml_backend.demo import data, true_value

    assert f"the true alpha is known ({true_value():.2f})" in " ".join(readme.split())
    assert f"The example is {len(data.narratives())} short" in readme


def test_versions_agree(root: Path) -> None:
    import tomllib

    from ml_backend.demo.server import VERSION

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert f"label-studio=={VERSION}" in (root / ".ci" / "environment.py").read_text()
    pins = dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", (root / "constraints.txt").read_text(), flags=re.MULTILINE))
    names = {re.sub("[-_.]+", "-", name).lower() for name in pins}
    wanted = [
        *project["dependencies"],
        *(entry for extra in ("dev", "postgres", "redis", "ray") for entry in project["optional-dependencies"][extra]),
    ]
    required = {
        re.split(r"[\[<>=;! ]", entry, maxsplit=1)[0].lower()
        for entry in wanted
        if "win32" not in entry.replace("!= 'win32'", "")
    }
    assert sorted(required - names - {"softirr"}) == [], "constraints.txt: these are missing."
