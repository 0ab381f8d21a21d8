"""Form of a refusal: one sentence on standard error."""

from __future__ import annotations

HEADER = "item,rater,text\n"
EXACT = ("--measure", "exact")


def sentence(text: str) -> str:
    assert text.startswith("softirr: ")
    assert text.endswith("\n")
    line = text[:-1]
    assert line.isprintable(), "one line, nothing that moves the cursor"
    assert line.endswith((".", ")"))
    assert "Traceback" not in line
    assert len(line) < 400
    return line
