"""What every command has: options refused in one sentence, exit statuses, and a progress bar."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from softirr.errors import SoftirrError


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like every other unusable input."""

    def error(self, message: str) -> NoReturn:
        """End with exit status 2."""
        self.exit(2, f"softirr: {message} (see {self.prog} --help).\n")


def guarded(run: Callable[[], int | None]) -> int:
    """Run a command; its exit status: 0 done, 2 unusable input (one sentence on standard error), 130 interrupted."""
    try:
        status = run() or 0
        sys.stdout.flush()
        return status
    except SoftirrError as error:
        print(f"softirr: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("softirr: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader (head, less) has gone: nothing more to say, also not when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def positive(text: str) -> int:
    """Type of options that are whole numbers above 0."""
    if not text.replace("_", "").isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def positive_number(text: str) -> float:
    """Type of options that are finite numbers above 0."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def fraction(text: str) -> float:
    """Type of options that lie between 0 and 1."""
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


@contextlib.contextmanager
def progress_bar(what: str, unit: str = " pairs") -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, fed with (done, total): it appears with the first report, and only on a terminal."""
    from tqdm import tqdm

    with contextlib.ExitStack() as stack:
        bars: list[Any] = []

        def show(done: int, total: int) -> None:
            if not bars:
                bars.append(stack.enter_context(tqdm(desc=what, unit=unit, file=sys.stderr, disable=None)))
            bars[0].total = total
            bars[0].update(done - bars[0].n)

        yield show


def print_json(value: Any) -> None:
    """ASCII only, so that it arrives whole whatever the terminal's encoding."""
    print(json.dumps(value, allow_nan=False))
