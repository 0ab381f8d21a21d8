"""``python -m lab.bench``: each benchmark has options and a row in the overview, and softirr does not import lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.bench.__main__ import BENCHES, bench_parser, main
from tests.programs import run_python


@pytest.mark.parametrize("name", BENCHES)
def test_every_bench_has_options_and_a_documented_result(name: str, root: Path) -> None:
    assert bench_parser(name).description
    overview = (root / "lab" / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{name}` \|.*\]\(([^)]+)\) \|$", overview, re.MULTILINE)
    assert row is not None and f"bench {name}" in (root / "lab" / row[1]).read_text(encoding="utf-8")


def test_an_unknown_bench_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nothing"])
    assert ended.value.code == 2 and capsys.readouterr().err.startswith("lab: ")


def test_the_command_prints_the_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("lab.bench.differences.table", lambda options: iter((f"{options.runs} runs", "end")))
    assert main(["differences", "--runs", "2"]) == 0
    assert capsys.readouterr().out == "2 runs\nend\n"


def test_softirr_runs_without_the_lab(root: Path) -> None:
    code = "import sys; sys.modules['lab'] = None; import softirr.cli.main as m; m.main(['measures'])"
    run_python(code, folder=root)
