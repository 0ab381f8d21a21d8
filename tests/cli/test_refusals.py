"""Refusals of options and calls: one table of inputs and messages, on the command line and in Python.

Refused files are in ``test_bad_input.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import softirr

ROWS = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
FILES = {
    "a.csv": "item,rater,text\n1,ann,fever\n1,bob,fever\n2,ann,cough\n2,bob,rash\n",
    "b.csv": "item,rater,text\n8,ann,fever\n8,bob,fever\n9,ann,cough\n9,bob,rash\n",
    "fields.csv": "item,rater,text,side\n1,ann,fever,left\n1,bob,fever,left\n2,ann,cough,left\n2,bob,rash,right\n",
    "a.jsonl": '{"item": 1, "rater": "ann", "text": "x"}\n{"item": 1, "rater": "bob", "text": "x"}\n',
    "names.csv": "rater,name\nann,Ann A.\nbob,Bob B.\nann,Ann B.\n",
    "empty.csv": "unit,pair,text_a,text_b,judgment\n",
}

COMMANDS = {
    "score a.csv --measure nonsense": "the measures are exact, jaccard",
    "score a.csv --measure ''": "measure",
    "score a.csv --chance nonsense": "argument --chance: invalid choice: 'nonsense'",
    "score a.csv --permutations 0": "argument --permutations: '0' is not a positive whole number",
    "score a.csv --permutations x": "argument --permutations: 'x' is not a positive whole number",
    "score a.csv --permutations 1000001": "argument --permutations: at most 1,000,000 can be asked for",
    "score a.csv --permutations 7": "--permutations needs --chance permutation.",
    "score a.csv --sheet x": "a.csv: --sheet has no effect on this format, so leave it out.",
    "score a.jsonl --header none": "a.jsonl: --header has no effect on this format, so leave it out.",
    "score a.csv --seed x": "argument --seed: invalid int value: 'x'",
    "score a.csv --control findings": "a.csv is not a Label Studio export, so it has no controls.",
    "score a.csv --rater-names names.csv": "names.csv, line 4: the rater 'ann' has another name above.",
    "score a.csv --nonsense": "unrecognized arguments: --nonsense",
    "score a.csv --raters ann bob": "unrecognized arguments: bob; separate the values of --raters with commas (see "
    "softirr score --help).",
    "score --ignore-raters=ann bob a.csv": "separate the values of --ignore-raters with commas",
    "inspect a.csv --missing NA -- -": "separate the values of --missing with commas",
    "audit sample a.csv --ignore side time": "separate the values of --ignore with commas (see softirr audit sample",
    "compare --terminology a.csv b.csv --control a b --json": "arguments: b; repeat --control before each value",
    "score a.csv --measure exact b.csv": "unrecognized arguments: b.csv (see softirr score --help).",
    "score a.csv --fail-below 2": "argument --fail-below: '2' is not a number between 0 and 1",
    "score a.csv --ignore color": "There is no attribute 'color'",
    "score a.csv --policy nonsense": "There is no policy and no file 'nonsense'",
    "score a.csv --more-general maybe": "invalid choice: 'maybe'",
    "score a.csv --terminology nowhere.obo": "nowhere.obo",
    "score a.csv --measure exact --device cpu": "The measure exact has no model, so --device has no effect: leave it "
    "out.",
    "score a.csv --measure exact --field text=color": "color",
    "score a.csv --measure exact --field text=": "--field names a column or control and its kind",
    "score a.csv --measure exact --judgments empty.csv": "The sheets have no rows",
    "score fields.csv --measure exact --field text=text --field side=text --judgments empty.csv": "--judgments "
    "corrects one text: choose it with --text, --control or --field.",
    "audit apply a.csv nowhere.csv --measure exact": "nowhere.csv",
    "audit sample a.csv --judgments 0 --measure exact": "argument --judgments: '0' is not a positive whole number",
    "compare a.csv": "Name two files, or compare within one with --measures, --policies or --models.",
    "compare a.csv b.csv --measures exact indel": "--measures compares within one file, but there are 2.",
    "compare a.csv --measures exact": "A comparison needs at least two different measures.",
    "compare a.csv --measures exact exact": "A comparison needs at least two different measures.",
    "compare a.csv --policies finding finding": "A comparison needs at least two different policies.",
    "compare a.csv --measures exact indel --measure jaccard": "--measures names the measures, so it does not go with "
    "--measure jaccard.",
    "compare a.csv --measures exact indel --paired": "--paired is about items of several files, so it does not go with "
    "--measures.",
    "compare a.csv b.csv --margin 0.1": "--margin needs --models.",
    "compare a.csv b.csv --epsilon 0.1": "--epsilon needs --models.",
    "compare a.csv b.csv --fail-unless within": "--fail-unless needs --models.",
    "compare a.csv b.csv --measure exact --paired": "The tables have 0 items in common with two answers in each: a "
    "paired comparison needs two.",
    "compare a.csv --measure exact --models": "so it has no predictions, and no name of a rater begins with "
    "'model:': name the raters that are models.",
    "compare a.csv --measure exact --models zoe": "No rater is named 'zoe'; there are ann, bob: name those that "
    "are models.",
    "compare a.csv --policies as-written any-severity --ignore side": "--policies names the policies, so --policy, "
    "--ignore and the like do not go with it.",
    "compare a.csv --models ann --paired --measure exact": "--paired is about items of several files",
    "compare a.csv --measures exact --models --measure exact": "not allowed with argument --measures",
    "compare a.csv --measures exact --independent --measure exact": "--independent is about items of several files",
    "inspect nowhere.csv": "nowhere.csv",
}

CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "measure": (lambda: softirr.agreement(ROWS, "nonsense"), "nonsense"),
    "chance": (
        lambda: softirr.AgreementOptions(chance="nonsense"),  # type: ignore[arg-type]
        "The option chance is 'nonsense', but can be",
    ),
    "permutations": (
        lambda: softirr.AgreementOptions(permutations=0),
        "The number of permutations is 0, but must be at least 1.",
    ),
    "target error": (
        lambda: softirr.AgreementOptions(target_se=0.0),
        "The target standard error is 0.0, but must be above 0.",
    ),
    "ignored attribute": (lambda: softirr.Policy(ignore=frozenset({"color"})), "color"),
    "policy": (lambda: softirr.agreement(ROWS, "exact", policy="nonsense"), "nonsense"),
    "no answers": (lambda: softirr.agreement([], "exact"), "There are no answers: the list is empty."),
    "no raters": (lambda: softirr.agreement({}, "exact"), "There are no answers: the dictionary is empty."),
    "row": (lambda: softirr.agreement([("1", "ann")], "exact"), "Row 0 of the list is not (item, rater, text)."),
    "entry": (
        lambda: softirr.AnnotationTable.from_answers(["fever"]),
        "Entry 1 is not an Answer or (item, rater, texts): 'fever'.",
    ),
    "repeated entry": (
        lambda: softirr.AnnotationTable.from_answers([*ROWS, ROWS[0]]),
        "Rater 'ann' has two answers for item '1'.",
    ),
    "number as text": (lambda: softirr.AnnotationTable.from_answers([("1", "ann", 5)]), "not a text"),
    "path": (lambda: softirr.agreement("answers.csv", "exact"), "softirr.read reads a file."),
    "nothing": (lambda: softirr.agreement(None, "exact"), "softirr.read reads a file."),
    "number": (lambda: softirr.agreement(5, "exact"), "but not a int. softirr.read reads a file."),
    "array": (lambda: softirr.agreement(np.array(["a", "b"]), "exact"), "The array has 1 dimensions"),
    "three columns": (
        lambda: softirr.agreement(np.array([["1", "ann", "fever"]]), "exact"),
        "An array with three columns may have three raters, or items, raters and texts: name the raters with raters=",
    ),
    "part of a report": (
        lambda: softirr.agreement(ROWS, "exact").to_frame("texts"),  # type: ignore[arg-type]
        "A report has no part 'texts': it has coefficients, items, raters, pairs",
    ),
    "encoding of a frame": (
        lambda: softirr.read(pd.DataFrame(ROWS, columns=["item", "rater", "text"]), encoding="cp1252"),
        "A data frame: encoding= has no effect on this format, so leave it out.",
    ),
    "one table": (lambda: softirr.compare([ROWS], "exact"), "A comparison needs at least two tables."),
    "common items": (
        lambda: softirr.compare([ROWS, ROWS], "exact", items="none"),
        "The option items is 'none', but must be auto, same or other.",
    ),
    "rater": (
        lambda: softirr.compare_models(_table(), ["zoe"], "exact"),
        "No rater is named 'zoe'; there are ann, bob: name those that are models.",
    ),
    "margin": (lambda: softirr.compare_models(_table(), ["bob"], "exact", margin=-1.0), "The margin is -1.0"),
    "coefficient": (
        lambda: softirr.compare_models(_table(), ["bob"], "exact", coefficient="sigma"),
        "Models are compared by cohen_kappa or observed_agreement, not by sigma.",
    ),
    "lengths of a dictionary": (
        lambda: softirr.agreement({"ann": ["x"], "bob": ["x", "y"]}, "exact"),
        "ann has 1 answer and bob has 2",
    ),
    "lengths": (lambda: softirr.cohen_kappa(["a"], ["a", "b"], measure="exact"), "a has 1 answer and b has 2"),
    "file": (lambda: softirr.read("nowhere.csv"), "nowhere.csv can't be read: No such file or directory."),
}


def _table() -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(ROWS)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_refused_in_one_sentence(
    command: str, tmp_path: Path, cli: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    words = [word.strip("'") for word in command.split()]
    assert COMMANDS[command] in cli(*words, status=2)


@pytest.mark.parametrize("name", CALLS)
def test_call_is_refused_in_one_sentence(name: str) -> None:
    call, sentence = CALLS[name]
    with pytest.raises(softirr.InputError) as refusal:
        call()
    message = str(refusal.value)
    assert sentence in message
    assert message.isprintable() and message.endswith((".", ")")), "one sentence"
    assert not re.search(r"(?<![\w-])--[a-z]|\b_\w+|object has no attribute", message), "parameters, no internal names"


def test_a_missing_file_is_also_a_file_not_found_error() -> None:
    with pytest.raises(FileNotFoundError):
        softirr.read("nowhere.csv")
