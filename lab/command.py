"""The command line of ``python -m lab.experiments``, ``lab.train`` and ``lab.bench``."""

from __future__ import annotations

from typing import NoReturn

from softirr.terminal import Parser


class LabParser(Parser):
    """A parser that names the module in its errors."""

    def error(self, message: str) -> NoReturn:
        """Print the error in one sentence and exit with status 2."""
        self.exit(2, f"lab: {message} (see {self.prog} --help).\n")
