"""Helpers shared by all commands: option types, error messages, exit statuses and a progress bar."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import math
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from softirr.errors import InputError, SoftirrError
from softirr.text import plain_number

_Number = TypeVar("_Number", int, float)


class Parser(argparse.ArgumentParser):
    """Argument parser that reports an error in one sentence, as commands report other unusable input."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse words; of a command, unknown ones are refused with its own help."""
        words = list(sys.argv[1:] if args is None else args)
        arguments, unknown = super().parse_known_args(words, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._advice(words[: words.index(unknown[0])])}")
        return arguments, unknown

    def _advice(self, words: Sequence[str]) -> str:
        """How the last option of words takes several values; a plural, such as COLUMNS, is a list with commas."""
        names = [word.partition("=")[0] for word in words if word.startswith("--")]
        action = next((action for action in self._actions if names and names[-1] in action.option_strings), None)
        if str(getattr(action, "metavar", "")).endswith("S"):
            return f"; separate the values of {names[-1]} with commas"
        return f"; repeat {names[-1]} before each value" if isinstance(action, argparse._AppendAction) else ""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        self.exit(2, f"{self.prog.split()[0]}: {message} (see {self.prog} --help).\n")

    def print_help(self, file: Any = None) -> None:
        """Print the help; a failure to write it is an error, which argparse itself passes over."""
        print(self.format_help(), end="", file=file or sys.stdout)


class Interrupts:
    """Notes Ctrl-C from now on and raises KeyboardInterrupt, which libraries may turn into another exception."""

    def __init__(self) -> None:
        self.came = False
        signal.signal(signal.SIGINT, self)
        sys.unraisablehook = self.unraisable

    def __call__(self, *_: object) -> None:  # noqa: D102 - a handler of signals
        self.came = True
        raise KeyboardInterrupt

    def unraisable(self, event: Any) -> None:
        """Handle an exception that Python can't pass on: an interrupt ends the process from there too."""
        if not isinstance(event.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(event)
            return
        _said("interrupted.", 130, "softirr")
        _stop_ray()
        os._exit(130)


def end_process(status: int) -> NoReturn:
    """End the process, at once after Ctrl-C.

    Libraries that hold a model take seconds to shut down, and some of them print a traceback when they are interrupted
    while they are imported.
    """
    if status != 130:
        sys.exit(status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stop_ray()
    os._exit(status)


def _stop_ray() -> None:
    """End the processes of a Ray cluster that this process started."""
    if (ray := sys.modules.get("ray")) is not None:
        with contextlib.suppress(Exception):
            ray.shutdown()


def guarded(
    run: Callable[[], int | None], *, program: str = "softirr", fault: int = 2, interrupts: Interrupts | None = None
) -> int:
    """Run a command, report its errors in one sentence on standard error, and return its exit status.

    The status is 0 if it is done, 1 if the result can't be written, 2 for unusable input, and 130 if it is interrupted.

    Parameters
    ----------
    run : callable
        Returns an exit status, or None for 0.
    program : str
        Start of the sentence.
    fault : int
        Exit status after a SoftirrError that is not an InputError.
    interrupts : Interrupts, optional
        After Ctrl-C any exception is taken for an interrupt.
    """
    if sys.stdout is None:  # closed by the caller
        return _said("Standard output is closed, so the result can't be written.", 1, program)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters that the terminal lacks are escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            status = run() or 0
        except SystemExit:  # from argparse, after --help or an error
            sys.stdout.flush()
            raise
        except Exception:
            if interrupts is not None and interrupts.came:
                raise KeyboardInterrupt from None
            raise
        sys.stdout.flush()
        return status
    except (SoftirrError, KeyboardInterrupt, MemoryError, ImportError, OSError) as error:
        return _reported(error, program, fault)


def _reported(error: BaseException, program: str, fault: int) -> int:
    """Report an error and return the exit status; other errors are raised again."""
    if isinstance(error, SoftirrError):
        return _said(error.on_command_line, 2 if isinstance(error, InputError) else fault, program)
    if isinstance(error, KeyboardInterrupt):
        return _said("interrupted.", 130, program)
    if isinstance(error, BrokenPipeError):  # the reader (head, less) has closed the pipe: no message
        _forget_output()
        return 0
    if _lacks_memory(error):  # also of a library that is loaded late
        traceback.clear_frames(error.__traceback__)  # which keep the variables that filled the memory
        sentence = "The memory of this machine is not enough for this input: split it, or take a larger machine."
        return _said(sentence, 2, program)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG):
        _forget_output()
        return _said(f"The result can't be written: {error.strerror}.", 1, program)
    raise error


def _lacks_memory(error: BaseException) -> bool:
    is_full = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return is_full or any(words in str(error) for words in ("failed to map segment", "annot allocate memory"))


def _said(sentence: str, status: int, program: str) -> int:
    if sys.stderr is not None:  # print(file=None) would write to standard output
        with contextlib.suppress(OSError):
            print(f"{program}: {sentence}", file=sys.stderr)
    return status


def _forget_output() -> None:
    """Discard buffered output, also when Python shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def bounded(maximum: int) -> Callable[[str], int]:
    """Make the type of options that are whole numbers from 1 to `maximum`."""

    def whole_number(text: str) -> int:
        value = positive(text) if len(text) < 20 else maximum + 1
        if value > maximum:
            raise argparse.ArgumentTypeError(f"at most {maximum:,} can be asked for")
        return value

    return whole_number


def _option_type(
    read: Callable[[str], _Number | None], is_allowed: Callable[[_Number], bool], description: str
) -> Callable[[str], _Number]:
    """Make the type of options that are numbers of some kind."""

    def checked(text: str) -> _Number:
        value = read(text)
        if value is None or not is_allowed(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {description}")
        return value

    return checked


def _whole_number(text: str) -> int | None:
    """Digits, with an underscore between thousands or without."""
    return int(text) if re.fullmatch(r"[0-9]+|[0-9]{1,3}(?:_[0-9]{3})+", text) else None


positive = _option_type(_whole_number, lambda value: value > 0, "a positive whole number")
positive_number = _option_type(plain_number, lambda value: 0 < value < math.inf, "a positive number")
not_negative = _option_type(plain_number, lambda value: 0 <= value < math.inf, "a number of 0 or more")
fraction = _option_type(plain_number, lambda value: 0 < value < 1, "a number between 0 and 1")


@contextlib.contextmanager
def progress_bar(what: str, unit: str = " pairs", *, scaled: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Progress bar on standard error, updated with (done, total).

    Shown from the first update on, and only on a terminal.
    """
    with contextlib.ExitStack() as stack:
        bars: list[Any] = []

        def show(done: int, total: int) -> None:
            if sys.stderr is None or not sys.stderr.isatty():
                return
            if not bars:
                from tqdm import tqdm

                bar = tqdm(desc=what, unit=unit, unit_scale=scaled, file=sys.stderr, **_missing_size())
                bars.append(stack.enter_context(bar))
            bars[0].total = total
            bars[0].update(done - bars[0].n)

        yield show


def _missing_size() -> dict[str, int]:
    """The usual size of a terminal that does not report its own, where tqdm would draw nothing."""
    with contextlib.suppress(OSError, ValueError):
        if not os.get_terminal_size(sys.stderr.fileno()).columns:
            return {"ncols": 80, "nrows": 24}
    return {}


def print_json(value: Any) -> None:
    """Print a value as JSON in ASCII, which every terminal encoding can represent."""
    print(json.dumps(value, allow_nan=False))
