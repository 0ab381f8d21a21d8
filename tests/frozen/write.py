"""``python -m tests.frozen.write [CASE ...]`` writes the present values: only after a change of numbers by design."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout

from softirr.cli.main import main
from tests.frozen.cases import COMMANDS, words
from tests.frozen.test_frozen import EXPECTED
from tests.frozen.values import values


def write(name: str) -> None:
    """Write the values of a case."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        status = main(words(COMMANDS[name]))
    if status:
        sys.exit(f"{name}: exit status {status}")
    EXPECTED.mkdir(exist_ok=True)
    text = json.dumps(values(json.loads(printed.getvalue())), ensure_ascii=False, sort_keys=True)
    (EXPECTED / f"{name}.json").write_text(text.replace(', "', ',\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or COMMANDS:
        write(name)
