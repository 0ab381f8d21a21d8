"""Unusable input of any kind and length ends in one plain sentence on standard error and exit status 2.

The cases go through the command as a user starts it; the large ones in a process with limited memory.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.cli.main import main
from tests.cli.refusals import EXACT, HEADER


def _task(number: Any, *texts: Any, **fields: Any) -> dict[str, Any]:
    """A task that raters 1, 2, ... answered with one text each."""
    answers = [
        {"completed_by": rater, "result": [{"type": "textarea", "from_name": "f", "value": {"text": [text]}}]}
        for rater, text in enumerate(texts, start=1)
    ]
    return {"id": number, "annotations": answers, **fields}


def _results(*results: Any) -> str:
    return json.dumps([{"id": 1, "annotations": [{"completed_by": 1, "result": list(results)}]}])


def _annotated(**annotation: Any) -> str:
    """An export of one task with this annotation."""
    return json.dumps([{"id": 1, "annotations": [annotation]}])


TEXTAREA = {"type": "textarea", "from_name": "f", "value": {"text": ["x"]}}
EXPORT = json.dumps([_task(number, "x", "y") for number in range(1000)])

# name: content, words that the sentence holds
CASES: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "is empty"),
    "white space": ("  \n\n \t\n", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "prose": ("Dear all,\nplease find the answers below.\n", "none of"),
    "a page to log in": ("<!doctype html><html><body>Log in</body></html>", "none of"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(255, 0, -1)) * 400, "is a picture"),
    "zero bytes": (b"\0" * 5000, "zero bytes"),
    "a zero byte in a text": (b"item,rater,text\n1,a,x\0y\n1,b,z\n", "zero bytes"),
    "Latin-1": ("item,rater,text\n1,a,café\n".encode("latin-1"), "line 2"),
    "UTF-16": ("item,rater,text\n1,a,x\n".encode("utf-16"), "one rater only"),
    "UTF-16 without a mark": (HEADER.encode("utf-16-le"), "contains zero bytes"),
    "gzip": (gzip.compress(EXPORT.encode()), "compressed"),
    "a ZIP archive or workbook": (b"PK\x03\x04" + bytes(500), "Excel workbook"),
    # JSON
    "broken JSON": ('[{"id": 1, "annotations": [}', "not valid JSON: Expecting value on line 1"),
    "truncated JSON": (EXPORT[:-200], "not valid JSON"),
    "two JSON values": ('[{"id": 1, "annotations": []}]\n[]', "Extra data on line 2"),
    "a comma too many": ('[{"id": 1, "annotations": []},]', "not valid JSON"),
    "no comma": ('[{"id": 1, "annotations": []} {"id": 2, "annotations": []}]', "Expecting ','"),
    "a list without end": ('[{"id": 1, "annotations": []}', "Expecting ','"),
    "an empty list": (" [ ]\n", "no tasks"),
    "a number": ("42", "none of"),
    "null": ("null", "none of"),
    "a string": ('"hello"', "none of"),
    "numbers": ("[1, 2, 3]", "entry 1 is not a task"),
    "tables": ("[[], []]", "entry 1 is not a task"),
    "other objects": ('[{"name": "x"}]', "has the columns name. Name them: --item COLUMN"),
    "JSON_MIN": (
        '[{"id": 1, "text": "x", "findings": "y", "annotator": 1, "annotation_id": 5}]',
        "does not show which of text, findings is the TextArea",
    ),
    "an error message of the server": (
        '{"detail": "Authentication credentials were not provided."}',
        "one JSON object",
    ),
    "an object over several lines": ('{\n "tasks": []\n}\n', "one JSON object"),
    "nested deeply": ("[" * 200_000 + "]" * 200_000, "nested too deeply"),
    "nested deeply in a task": ('[{"id":1,"annotations":' + "[" * 100_000 + "]" * 100_000 + "}]", "nested too deeply"),
    "an impossible number": ('[{"id":' + "9" * 10_000 + ',"annotations":[]}]', "impossible number"),
    "an infinite id": ('[{"id": 1e999, "annotations": []}]', "task number 1 has no id"),
    "no id": ('[{"annotations": []}]', "task number 1 has no id"),
    "annotations are null": ('[{"id": 1, "annotations": null}]', "task 1: its annotations are not a list"),
    "annotations are an object": ('[{"id": 1, "annotations": {"a": 1}}]', "task 1: its annotations are not a list"),
    "annotations are numbers": ('[{"id": 1, "annotations": [5, 6]}]', "annotation number 1 is not an object"),
    "no annotation": ('[{"id": 1, "annotations": []}]', "no TextArea answers"),
    "a task's key twice": ('[{"id": 1, "annotations": [],\n "id": 2}]', "line 1: task number 1 has the key id twice"),
    "a key twice": (_results(TEXTAREA)[:-1] + ',\n{"id": 2, "annotations": [{"result": [], "result": []}]}]', "line 2"),
    "an id that is no id": ('[{"id": true, "annotations": []}]', "task number 1 has no id"),
    "an empty id": ('[{"id": "", "annotations": []}]', "task number 1 has no id"),
    "a result misspelt": (_annotated(completed_by=1, reslt=[TEXTAREA]), "annotation number 1: result is missing"),
    "a result that is no list": (_annotated(id=7, completed_by=1, result=TEXTAREA), "annotation 7: its result is not"),
    "a result that is null": (_annotated(id=7, completed_by=1, result=None), "annotation 7: its result is not"),
    "an entry that is null": (_results(None), "an entry of its result has no type"),
    "an entry without type": (_results({"from_name": "f", "value": {}}), "an entry of its result has no type"),
    "another type": (_results(TEXTAREA, {**TEXTAREA, "type": "text"}), "results of f have the types textarea and text"),
    "a value missing": (_results({"type": "textarea", "from_name": "f"}), "no value with a text"),
    "a text missing": (_results({**TEXTAREA, "value": {"txt": ["x"]}}), "no value with a text"),
    "a text that is a number": (_results({**TEXTAREA, "value": {"text": 5}}), "neither a text nor a list"),
    "a text that is null": (_results({**TEXTAREA, "value": {"text": None}}), "neither a text nor a list"),
    "a number among texts": (_results({**TEXTAREA, "value": {"text": ["x", 5]}}), "neither a text nor a list"),
    "an unknown origin": (_results({**TEXTAREA, "origin": "predicted"}), "unknown origin"),
    "no user named": (_annotated(result=[TEXTAREA]), "completed_by is missing"),
    "a user that is a list": (_annotated(completed_by=[1], result=[]), "completed_by names no user"),
    "a user without id": (_annotated(completed_by={"name": "x"}, result=[]), "completed_by names no user"),
    "cancelled in words": (_annotated(completed_by=1, was_cancelled="yes", result=[]), "neither true nor false"),
    "cancelled is lost": (
        json.dumps(
            [
                _task(1, "x", "y"),
                {"id": 2, "annotations": [{"completed_by": 1, "was_cancelled": False, "result": []}]},
            ]
        ),
        "task 1: annotation number 1: was_cancelled is missing",
    ),
    "a date lost": (
        json.dumps(
            [
                {
                    "id": 1,
                    "annotations": [
                        {"completed_by": 1, "updated_at": "2026-01-01", "result": [TEXTAREA]},
                        {"completed_by": 1, "result": [TEXTAREA]},
                    ],
                }
            ]
        ),
        "annotation number 2: updated_at is missing",
    ),
    "no TextArea": (
        _results({"type": "labels", "from_name": "c", "value": {"labels": ["a"]}}),
        "answers of one rater only",
    ),
    "a control without a name": (_results({**TEXTAREA, "from_name": ["f"]}), "does not name its TextArea"),
    "several controls": (_results(TEXTAREA, {**TEXTAREA, "from_name": "g"}), "(f, g): choose one with --control"),
    "controls with line breaks": (_results(TEXTAREA, {**TEXTAREA, "from_name": "g\n\x1b[31m"}), "choose one"),
    "one rater": (json.dumps([_task(1, "x"), _task(2, "y")]), "one rater only"),
    "all skipped": (
        json.dumps(
            [
                {**task, "annotations": [{**answer, "was_cancelled": True} for answer in task["annotations"]]}
                for task in (_task(1, "x", "y"), _task(2, "x", "z"))
            ]
        ),
        "no answers to compare (left out: 4 skipped)",
    ),
    # JSONL
    "a broken line": ('{"item":"1","rater":"a","texts":["x"]}\nnonsense\n', "line 2: not valid JSON"),
    "texts is a string": (
        '{"item":"1","rater":"a","texts":"x"}\n{"item":"1","rater":"b","texts":[]}\n',
        "line 1: texts",
    ),
    "keys are missing": ('{"item":"1"}\n', "line 1: expected"),
    "texts with a number": ('{"item":"1","rater":"a","texts":["x",1]}\n', "line 1: texts is not a list of strings"),
    "a line's key twice": ('{"item":"1","rater":"a","texts":["x"],"texts":[]}\n', "line 1: the key texts"),
    "an item that is a list": ('{"item":["1"],"rater":"a","texts":[]}\n', "line 1: item is neither"),
    "a blank rater": ('{"item":"1","rater":" ","texts":[]}\n', "line 1: rater is neither"),
    "a line nested deeply": ('{"item":' + '{"a":' * 100_000 + "1" + "}" * 100_001 + "\n", "line 1: not valid JSON"),
    "an impossible item": ('{"item":' + "9" * 10_000 + ',"rater":"a","texts":[]}\n', "line 1: not valid JSON"),
    "one rater in lines": ('{"item":"1","rater":"a","texts":["x"]}\n', "one rater only"),
    # CSV
    "no header": (
        "1,a,fever\n1,b,cough\n",
        "has the columns 1, a, fever. Name them: --item COLUMN --rater COLUMN --text COLUMN",
    ),
    "another header": ("task,annotator,answer\n1,a,b\n", "answers of one rater only"),
    "columns that could be anything": (
        "id,nurse_1,nurse_2,comment\n1,x,y,\n",
        "has the columns id, nurse_1, nurse_2, comment. Name them: --item COLUMN",
    ),
    "Label Studio's CSV": ("annotation_id,annotator,findings,id\n1,2,fever,1\n", "one rater only"),
    "only a header": (HEADER, "no answers"),
    "a short row": (HEADER + "1,a\n1,b,x\n", "line 2: expected item, rater and text"),
    "a quote without end": (HEADER + '1,a,"x\n1,b,y\n', "not valid CSV"),
    "no item": (HEADER + ",a,x\n", "line 2: the item is missing"),
    "no rater": (HEADER + "1,,x\n", "line 2: the rater is missing"),
    "a comma without quotes": (HEADER + "1,ann,x\n1,bob,pain, severe\n", "line 3: 4 cells where the header has 3"),
    "a cell too many, empty": (HEADER + "1,ann,pain,\n1,bob,x\n", "line 2: 4 cells where the header has 3"),
    "text named twice": ("item,rater,text,Text\n1,a,x,y\n", "has the columns item, rater, text, Text. Name them"),
    "the header again": (HEADER + "1,a,x\n" + HEADER + "1,b,x\n", "line 3: the header is repeated"),
    "an object without keys among others": (
        '[{"item": 1, "rater": "a", "text": "x"}, {}]',
        "entry 2 is no object with the names of columns",
    ),
    "files pasted together": (HEADER + "1,a,x\n\ufeff1,b,x\n", "line 3: the item contains a byte order mark"),
    "another separator in the rows": (HEADER + "1;a;x\n1;b;y\n", "line 2: expected item, rater and text"),
    "a quote that swallows rows": (
        HEADER + '1,a,x\n1,b,"y\n2,a,z\n2,b,"\n3,a,x\n3,b,w\n',
        "line 4: this row is inside the quotes",
    ),
    "one rater in a table": (HEADER + "1,a,x\n2,a,y\n", "one rater only"),
}

ONLY_COMMAND_LINE = ("one rater only", "no answers")
"""What only the command line refuses: Python returns the table, and coefficients are undefined with a reason."""


@pytest.mark.parametrize("case", CASES)
def test_file_is_refused_in_one_sentence(case: str, tmp_path: Path, cli: Callable[..., str]) -> None:
    """Python raises the same sentence as the command line prints, with parameters instead of options."""
    content, words = CASES[case]
    path = tmp_path / "input"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    printed = cli("score", path, *EXACT, status=2)
    assert words in printed
    assert "input" in printed, "it names the file"
    refusal: softirr.InputError | None = None
    try:
        softirr.read_texts(path, kind="auto")
    except softirr.InputError as error:
        refusal = error
    if refusal is None:
        assert any(only in printed for only in ONLY_COMMAND_LINE)
    else:
        assert printed == f"softirr: {refusal.on_command_line}"
        assert not re.search(r"(?<![\w-])--[a-z]", str(refusal).replace(str(path), ""))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "can't be read"),
        ("nowhere.csv", "No such file or directory"),
        ("folder", "without a file for each rater"),
        ("a\nb.csv", "can't be read"),
        ("x" * 300, "can't be read"),
    ],
)
def test_path_that_cannot_be_opened_is_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert words in cli("score", name, *EXACT, status=2)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(softirr.InputError, match="can't be read"):
        softirr.read("a\0b.csv")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([_task(10**300, "x", "y")]),
        json.dumps([_task(1, "x\0y", "\x1b[31m")]),
        json.dumps([_task(1, "\ud800", "\udfff")]),
        json.dumps([_task(1, "x", "y", drafts=[5], predictions=None, new={"key": [1]})]),
        " " * 70_000 + json.dumps([_task(1, "x", "y")]),
        HEADER.replace("\n", "\r") + "1,a,x\r1,b,y\r",
        "\ufeff" + HEADER.replace("\n", "\r\n") + "1,a,x\r\n1,b,y\r\n",
        HEADER + '1,a,"' + "x" * 90_000 + '"\n1,b,y\n',
        HEADER + "1\x1b[31m,a\x1b]0;title\x07,x\n1\x1b[31m,b,y\n",
    ],
)
def test_odd_but_usable(text: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Ids of any length, texts of any character, values of other types in unlikely positions."""
    (tmp_path / "input").write_bytes(text.encode())
    for options in ([], ["--json"]):
        assert main(["score", str(tmp_path / "input"), "--measure", "indel", *options]) == 0
        output = capsysbinary.readouterr()
        assert output.err == b""
        assert b"\x1b" not in output.out and b"\x07" not in output.out, (
            "nothing from the file moves the cursor of a terminal"
        )
    assert json.loads(output.out)["n_items"] >= 1
