"""Every command with a closed or full output ends in one sentence with exit status 1.

Results are never lost in silence.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ml_backend.cli
import softirr.cli.main

ROWS = [(str(i), rater, f"finding {i}{rater if i % 2 else ''}") for i in range(1, 13) for rater in "ab"]
INDEL = ("--measure", "indel")
SOFTIRR = [
    ("--help",),
    ("score", "--help"),
    ("measures",),
    ("score", "a.csv", *INDEL),
    ("score", "a.csv", *INDEL, "--json"),
    ("audit", "sample", "a.csv", *INDEL),
    ("audit", "apply", "a.csv", "sheet.csv", *INDEL),
    ("compare", "a.csv", "--measures", "indel", "lcs"),
]
SOFTIRR_LS = [("--help",), ("serve", "--help"), ("doctor",), ("doctor", "--json"), ("demo", "--help")]
EVERY = [
    pytest.param(main, command, id=f"{name} {' '.join(command[:2])}")
    for name, main, commands in (
        ("softirr", softirr.cli.main.main, SOFTIRR),
        ("softirr-ls", ml_backend.cli.main, SOFTIRR_LS),
    )
    for command in commands
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "a.csv").write_text("item,rater,text\n" + "".join(f"{','.join(row)}\n" for row in ROWS))
    sheet = softirr.audit.draw_sheet(softirr.read(folder / "a.csv"), "indel").to_csv().splitlines()
    marks = ["same" if n % 3 else "different" for n in range(len(sheet) - 1)]
    (folder / "sheet.csv").write_text("\n".join([sheet[0], *map("".join, zip(sheet[1:], marks, strict=True))]))
    return folder


@pytest.fixture(autouse=True)
def there(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in files.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path / "data"))


@pytest.fixture(params=[False, True], ids=["buffered", "unbuffered"])
def full(request: pytest.FixtureRequest) -> Iterator[io.TextIOWrapper]:
    """A disk without room, which is found out when the buffer is written, or, with PYTHONUNBUFFERED, at once."""
    with open("/dev/full", "wb", buffering=0) as raw:
        buffered = raw if request.param else io.BufferedWriter(raw)
        yield io.TextIOWrapper(buffered, encoding="utf-8", write_through=request.param)  # type: ignore[arg-type]


Main = Callable[[tuple[str, ...]], int]


def _ended(main: Main, command: tuple[str, ...]) -> int:
    try:
        return main(command)
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize(("main", "command"), EVERY)
def test_a_full_disk(
    main: Main,
    command: tuple[str, ...],
    full: io.TextIOWrapper,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdout", full)
    status = _ended(main, command)
    last = capsys.readouterr().err.splitlines()[-1]
    program = "softirr-ls" if main is ml_backend.cli.main else "softirr"
    assert (status, last) == (1, f"{program}: The result can't be written: No space left on device.")


@pytest.mark.parametrize(("main", "command"), EVERY)
def test_closed(
    main: Main, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    status = _ended(main, command)
    stderr = capsys.readouterr().err
    if command == ("serve", "--help"):  # a service needs no output
        assert status == 0
        return
    program = "softirr-ls" if main is ml_backend.cli.main else "softirr"
    assert (status, stderr) == (1, f"{program}: Standard output is closed, so the result can't be written.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_files_are_written_before_a_full_output_ends_the_command(
    full: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", full)
    assert _ended(softirr.cli.main.main, ("score", "a.csv", *INDEL, "--output", "report")) == 1
    assert (Path("report") / "report.html").stat().st_size > 0
