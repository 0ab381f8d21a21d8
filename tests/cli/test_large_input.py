"""Input that is too large or closed: the command refuses it in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.refusals import EXACT, sentence

MEBIBYTE = 1 << 20


def _filled(path: Path, start: bytes, filling: bytes, size: int = 300 * MEBIBYTE) -> None:
    block = filling * (MEBIBYTE // len(filling))
    with path.open("wb") as out:
        out.write(start)
        for _ in range(size // len(block)):
            out.write(block)


LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2); "
    "from softirr.cli.main import main; sys.exit(main(sys.argv[2:]))"
)


def _limited(*arguments: str, mebibytes: int, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(mebibytes * MEBIBYTE), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False, **options)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[bytes, bytes], Path]]:
    path = tmp_path_factory.mktemp("large") / "input"

    def make(start: bytes, filling: bytes) -> Path:
        _filled(path, start, filling)
        return path

    yield make
    path.unlink(missing_ok=True)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
class TestNonsenseOf300Megabytes:
    """The limits are the size of the address space; Python with NumPy alone takes about 500 MiB of it."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("start", "filling", "mebibytes", "words"),
        [
            (b"", b"lorem ipsum dolor sit\n", 800, "none of"),
            (b"", b"\0", 800, "zero bytes"),
            (b"", b"\xfd\xfc\xfb\xfa", 800, "not UTF-8"),
            (b"[{}", b",{}", 1800, "entry 1 is not a task"),
            (b"[[]", b",[]", 1800, "entry 1 is not a task"),
        ],
        ids=["prose", "zeros", "bytes", "objects", "lists"],
    )
    def test_memory_is_bounded(
        self, large: Callable[[bytes, bytes], Path], start: bytes, filling: bytes, mebibytes: int, words: str
    ) -> None:
        done = _limited("score", str(large(start, filling)), *EXACT, mebibytes=mebibytes)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in sentence(done.stderr)

    def test_a_source_without_end_is_refused(self) -> None:
        done = _limited("score", "/dev/zero", *EXACT, mebibytes=800)
        assert done.returncode == 2
        assert "zero bytes" in sentence(done.stderr)


@pytest.mark.skipif(os.name == "nt", reason="the shell is POSIX")
def test_closed_standard_input() -> None:
    command = f"exec {sys.executable} -m softirr score - --measure exact <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Standard input" in sentence(done.stderr)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
@pytest.mark.parametrize("mebibytes", [450, 700])
def test_too_little_memory_ends_in_a_sentence(large: Callable[[bytes, bytes], Path], mebibytes: int) -> None:
    path = large(b"item,rater,text\n", b"1,ann,fever\n")
    done = _limited("score", str(path), *EXACT, mebibytes=mebibytes)
    assert (done.returncode, done.stdout) == (2, "")
    assert "memory" in sentence(done.stderr)
