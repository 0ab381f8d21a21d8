"""Every command's output and early ends."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.terminal import bounded, fraction, guarded, not_negative, positive, positive_number
from tests.programs import run_python

ROWS = "item,rater,text\n1,Zoë,fever\n1,Łukasz,cough\n2,Zoë,fever\n2,Łukasz,fever\n"


def _started(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "softirr", *arguments]
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, encoding="utf-8", timeout=120, check=False, **options
    )


@pytest.fixture
def rows(tmp_path: Path) -> str:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    return str(tmp_path / "rows.csv")


class TestCtrlC:
    """One line, exit status 130, no traceback: whatever the command is at."""

    @staticmethod
    def _interrupted(*arguments: str, wait_for: str, **environment: str) -> tuple[int, str]:
        """Exit status and standard error of a command that gets SIGINT once it has printed a line with `wait_for`."""
        with subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        ) as running:
            assert running.stdout is not None and running.stderr is not None
            try:
                assert any(wait_for in line for line in running.stdout), running.stderr.read()
                running.send_signal(signal.SIGINT)
                stderr = running.communicate(timeout=60)[1]
            finally:
                running.kill()
        return running.returncode, stderr

    @pytest.mark.slow
    def test_while_a_model_scores(self, tmp_path: Path) -> None:
        words = ["fever", "cough", "rash", "pain", "nausea", "severe", "chronic", "left", "right", "lung", "heart"]
        rows = [
            f"{n},{who},{' '.join(words[(n * k) % 11] for k in range(1, 12))} {n}" for n in range(400) for who in "ab"
        ]
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(["item,rater,text", *(f"{row}{row[-9:]}" for row in rows)]), encoding="utf-8")
        # the first progress report about scoring stands for the progress bar that a user sees
        program = (
            "import sys, softirr.meaning.measures.pairs, softirr.cli.main as program, contextlib\n"
            "@contextlib.contextmanager\n"
            "def bar(*_):\n"
            "    yield lambda done, total: print('scored', done, flush=True) if done else None\n"
            "softirr.meaning.measures.pairs.progress_bar = bar\n"
            f"sys.argv = ['softirr', 'score', {str(path)!r}, '--cache', 'none']\n"
            "program.main()\n"
        )
        status, stderr = self._interrupted("-c", program, wait_for="scored")
        assert (status, stderr) == (130, "softirr: interrupted.\n")

    @pytest.mark.parametrize("start", ["passed on", "turned into another exception", "not to be passed on"])
    def test_while_libraries_are_imported(self, tmp_path: Path, rows: str, start: str) -> None:
        """A stand-in for a library that imports for long, and treats the interrupt as libraries do."""
        endless = "print('importing', flush=True)\nimport time\nwhile True:\n    time.sleep(0.01)\n"
        body = textwrap.indent(endless, "    ")
        text = {
            "passed on": endless,
            "turned into another exception": (
                f"try:\n{body}except KeyboardInterrupt:\n    raise RuntimeError('half imported')\n"
            ),
            "not to be passed on": f"class Odd:\n    def __del__(self):\n{textwrap.indent(body, '    ')}Odd()\n",
        }[start]
        (tmp_path / "rapidfuzz.py").write_text(text)
        import_path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        arguments = ("-m", "softirr", "score", rows, "--measure", "indel")
        status, stderr = self._interrupted(*arguments, wait_for="importing", PYTHONPATH=import_path)
        assert (status, stderr) == (130, "softirr: interrupted.\n")

    def test_nothing_heavy_is_imported_before_ctrl_c_is_heard(self) -> None:
        run_python("import sys, softirr.cli.main; sys.exit('numpy' in sys.modules)")


class TestGuarded:
    def test_status_of_the_command(self) -> None:
        assert guarded(lambda: None) == 0
        assert guarded(lambda: 3) == 3

    @pytest.mark.parametrize(
        ("error", "status", "sentence"),
        [
            (InputError("rows.csv is empty."), 2, "softirr: rows.csv is empty.\n"),
            (MemoryError(), 2, "softirr: The memory of this machine is not enough"),
            (KeyboardInterrupt(), 130, "softirr: interrupted.\n"),
        ],
    )
    def test_one_sentence(
        self, error: BaseException, status: int, sentence: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail() -> int:
            raise error

        assert guarded(fail) == status
        assert capsys.readouterr().err.startswith(sentence)

    def test_a_mistake_of_ours_is_not_hidden(self) -> None:
        def fail() -> int:
            raise FileNotFoundError(2, "No such file or directory")

        with pytest.raises(FileNotFoundError):
            guarded(fail)

    def test_a_reader_that_goes(self, rows: str) -> None:
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as gone:
            done = _started("score", rows, "--measure", "exact", stdout=gone)
        assert (done.returncode, done.stderr) == (0, "")


class TestTypesOfOptions:
    @pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "", "1001", "1_0", "_10", "1__000", "9" * 50])
    def test_refused_whole_numbers(self, text: str) -> None:
        with pytest.raises(argparse.ArgumentTypeError):
            bounded(1000)(text)

    def test_accepted(self) -> None:
        assert (bounded(1000)("1000"), positive("1_000"), positive_number("0.5"), fraction("0.5")) == (
            1000,
            1000,
            0.5,
            0.5,
        )
        assert not_negative("0") == 0 and not_negative("2.5") == 2.5

    @pytest.mark.parametrize("text", ["-0.1", "nan", "inf", "x", "1_0"])
    def test_refused_where_only_zero_or_more_will_do(self, text: str) -> None:
        with pytest.raises(argparse.ArgumentTypeError):
            not_negative(text)

    @pytest.mark.parametrize("text", ["0", "1", "nan", "inf", "x"])
    def test_refused_fractions(self, text: str) -> None:
        with pytest.raises(argparse.ArgumentTypeError):
            fraction(text)


def test_a_terminal_that_lacks_letters_gets_their_numbers(rows: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
    done = _started("score", rows, "--measure", "exact", env=environment, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Zo\\xeb" in done.stdout and "\\u0141ukasz" in done.stdout


def test_the_progress_bar_shows_on_a_terminal_that_reports_no_size() -> None:
    import pty

    program = "from softirr.terminal import progress_bar\nwith progress_bar('scoring pairs') as show:\n    show(1, 4)\n"
    reading_end, terminal_end = pty.openpty()
    subprocess.run([sys.executable, "-c", program], stderr=terminal_end, check=True, timeout=60)
    table = os.read(reading_end, 65536)
    os.close(reading_end)
    os.close(terminal_end)
    assert b"scoring pairs" in table
