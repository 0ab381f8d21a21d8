"""XML entities in workbooks.

None is fetched, and none unfolds, whichever XML libraries are installed.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.answers.formats import FORMATS
from tests.answers.plain_rows import text_file
from tests.programs import run_python

SECRET = "do not read this"
BOMB = '<!ENTITY a "aaaaaaaaaa">' + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
READ = """
import json, resource, sys
if sys.argv[1] == "without defusedxml":
    sys.modules["defusedxml"] = sys.modules["defusedxml.ElementTree"] = None
import softirr
results = {}
for path in sys.argv[2:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        options = {"item": "id", "raters": ["ann", "bob", "cy"]} if path.endswith(".xlsx") else {}
        words, refused = " ".join(softirr.read(path, **options).texts), False
    except softirr.InputError as error:
        words, refused = str(error), True
    results[path] = [words, refused, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]
print(json.dumps(results))
"""


def _with_entity(text: str, declared: str, reference: str, insert: Callable[[str], str]) -> str:
    """The document with a type declaration before its root, and the reference where `insert` marks one by a NUL."""
    root = re.search(r"<(?![?!])", text)
    assert root
    changed = insert(text[root.start() :])
    assert "\0" in changed
    return text[: root.start()] + f"<!DOCTYPE x [{declared}]>" + changed.replace("\0", reference, 1)


def _workbooks(folder: Path, declared: str, reference: str) -> Iterator[Path]:
    folder.mkdir(parents=True)
    good = FORMATS["wide XLSX"](folder)
    for xml_file in ("xl/sharedStrings.xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
        path = folder / f"{Path(xml_file).stem}.xlsx"
        with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                if name == xml_file:
                    mark = {"sharedStrings": "<t>", "workbook": 'name="', "sheet1": 'summaryBelow="'}[path.stem]
                    text = data.decode()
                    data = _with_entity(
                        text, declared, reference, lambda body, mark=mark: body.replace(mark, f"{mark}\0", 1)
                    ).encode()
                target.writestr(name, data)
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("installed", ["with defusedxml", "without defusedxml"])
def test_entities_are_neither_fetched_nor_unfolded(installed: str, tmp_path: Path) -> None:
    secret = text_file(tmp_path / "secret.txt", SECRET)
    leak = f'<!ENTITY leak SYSTEM "file://{secret}">'
    paths = [*_workbooks(tmp_path / "leak", leak, "&leak;"), *_workbooks(tmp_path / "bomb", BOMB, "&j;")]
    results = json.loads(run_python(READ, installed, *paths))
    for path, (words, refused, kibibytes) in results.items():
        assert SECRET not in words, path
        assert len(words) < 2000 and kibibytes < 300_000, path
        assert not refused or "\n" not in words, path
    assert len(paths) == len(results) == 6
