"""Files that no reader takes: what they are, and what to do about it."""

from __future__ import annotations

from softirr.answers.data_files import data_file

__all__ = ["foreign_start"]


def foreign_start(start: bytes) -> str | None:
    """Describe a file that softirr cannot read, by its first bytes.

    Examples
    --------
    >>> foreign_start(b"%PDF-1.7")
    'a PDF: copy its table into a spreadsheet first'
    >>> foreign_start(b"item,rater,text") is None
    True
    """
    begins: dict[str, str] = data_file("foreign")
    return next((what for mark, what in begins.items() if start.startswith(mark.encode("latin-1"))), None)
