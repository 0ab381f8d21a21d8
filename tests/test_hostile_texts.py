"""No text holds a reader: time grows with its length, and every text gives an answer or a sentence.

The functions below read what annotators write. Each gets generated hostile texts; a new function that reads texts
belongs in the list.
"""

from __future__ import annotations

import csv
import gc
import io
import json
import tempfile
import time
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from ml_backend.labelstudio.answers import Reading, answers_hash, task_answers
from ml_backend.labelstudio.config import Control
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.settings import ProjectSettings
from softirr.answers.prepare import split_table
from softirr.answers.splitting import split_text
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.meaning.measures import measure
from softirr.meaning.measures.fact_comparisons import Facts
from softirr.meaning.measures.facts import facts_of
from softirr.meaning.measures.judge import read_probability
from softirr.meaning.measures.languages import language_profile
from softirr.meaning.measures.protocols import FunctionMeasure
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.stages import Stage
from softirr.meaning.measures.suitability import misfit_sentences
from softirr.meaning.policy.attribute_values import value
from softirr.meaning.policy.attributes import KINDS, attributes, without
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.rules import Policy
from softirr.meaning.policy.text_parts import known_words
from softirr.meaning.policy.word_pairs import are_opposites, is_misspelling, look_alike
from softirr.meaning.terminology.load import load
from softirr.meaning.terminology.lookup import NameLookup
from softirr.report.page.render import report_page
from softirr.report.view import view
from softirr.text import is_blank, normalize, normalize_lines, plain_number, protected, sentences

TEN = [f"finding number {word}" for word in ("one", "two", "six", "ten", "red", "old", "new", "big", "far", "low")]
SECONDS = 1.0
"""Processor time that no text may exceed, multiplied by `slowness`."""
REFERENCE = 0.02
"""Processor time of the loop in `slowness` on an idle machine."""
LENGTHS = (1_900, 9_900, 100_000)
"""Just below the maximum lengths of a finding and of a list, and the maximum of a text that a project scores."""
SLACK = 4.0
"""Maximum cost of a character of a longer text, relative to a character of a shorter text.

Clocks on a busy machine are noisy.
"""

REPEATED = (
    *("a", " ", "\n", "(", '"', "-", "/", ",", ";", ".", "'"),
    *("0", "\0", "\ud800", "\u200d", "\u202e", "\u0301", "\u0f73", "é", "漢"),
    *("A. ", "a, ", "a; ", "a/", "a / ", "a and ", "and ", "- ", "- a\n", "1. "),
    *("1 to ", "1.1", "1-", "a\n", "()", "[(", ")(", '."'),
    *("\u0315\u0300", "e\u0301\u0323", "\u202ea\u202c", "👨\u200d👩\u200d", "\ud83d", "&amp;", "&a;"),
    *("<b>", "</", "<!--", "{{", "\\"),
    *("left ", "no ", "severe pain ", "for 3 days ", "due to ", "no evidence of ", "about "),
    *("grade 2 ", "a'", "MI ", "ß", "İ", "ﬃ"),
    *("Bad pain. ", "yes? ", "Monday ", "120/80 ", "5 mg/dl ", "5 Jan 2026 ", "no a but ", "38.5 °C ", "1/2 ", "1 2 "),
    *("2026-01-05 ", "5 mg x ", "+", "-+", "1e9", "=A1", "aeiou", "aa", "patient's "),
)  # fmt: skip
"""What hostile texts repeat."""


def _measure(name: str) -> Callable[[str], Any]:
    return lambda text: measure(name).score([(text, "fever"), (text, f"{text} too"), ("fever", text)])


def _table(text: str) -> AnnotationTable:
    return AnnotationTable.from_answers(
        [Answer("1", "ann", text), Answer("1", "bob", "fever"), Answer("2", "ann", text)]
    )


def _coded(text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "terms.csv"
        path.write_text("id,name,synonym\n1,fever,pyrexia\n2,left knee pain,\n", encoding="utf-8")
        return NameLookup([load(str(path))]).find(text)


def _answered(text: str) -> Any:
    """An annotation in Label Studio's form, read and split as the backend does it."""
    value = {"text": [text, "fever"]}
    result = [{"from_name": "finding", "to_name": "t", "type": "textarea", "value": value}]
    annotations = [{"id": k, "completed_by": k, "result": result} for k in (1, 2)]
    control = Control("finding", "t")
    project_settings = ProjectSettings(policy=Policy(split="commas"))
    answers = task_answers({"id": 1, "annotations": annotations}, Reading([control], project_settings))
    return AnswerPreparation(project_settings).task({"number": 1, "answers": answers})["answers"]


def _stage(stage: Stage) -> Callable[[str], Any]:
    def step(text: str) -> Any:
        texts = [normalize(text), "fever. No cough.", normalize(f"{text} too")]
        return stage.prepare(texts, lambda: 0.0).step(np.array([0, 1, 0, 2]), np.array([1, 0, 2, 0]))

    return step


def _csv(text: str) -> Any:
    rows = io.StringIO()
    csv.writer(rows).writerows([["item", "rater", "text"], ["1", "ann", text], ["1", "bob", "fever"]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        path.write_text(rows.getvalue(), encoding="utf-8", errors="replace")
        return softirr.read(path)


def _page(text: str) -> Any:
    options = softirr.AgreementOptions(reasons=False)
    return report_page(view(softirr.agreement(_table(text), "exact", options=options).to_dict()))


def _jsonl(text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        rows = [
            {"item": "1", "rater": rater, "texts": [answer_text]}
            for rater, answer_text in (("ann", text), ("bob", "fever"))
        ]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return softirr.read(path)


READERS: Mapping[str, Callable[[str], Any]] = {
    "normalize": normalize,
    "normalize, case folded": lambda text: normalize(text, casefold=True),
    "normalize_lines": normalize_lines,
    "is_blank": is_blank,
    "plain_number": plain_number,
    "sentences": lambda text: sentences(normalize(text)),
    "protected": protected,
    **{
        f"splitting, {mode}": lambda text, mode=mode: split_text(text, mode)
        for mode in ("bullets", "commas", "sentences", "/")
    },
    "split_table": lambda text: split_table(_table(text), "commas"),
    "attributes": attributes,
    "without": lambda text: without(text, KINDS),
    "attribute values": lambda text: [value(text, kind) for kind in KINDS],
    "policy": lambda text: Policy(ignore={"severity"}, count={"side", "time"}).rewrite(text),
    "reasons": lambda text: explain([(text, "fever, cough"), (text, f"{text} left")], measure("jaccard")),
    "known words": lambda text: known_words([text, f"{text} a", f"{text} b"]),
    "word pairs": lambda text: (
        are_opposites(text, f"{text}a"), look_alike(text, f"{text}a"), is_misspelling(text, f"{text}a"),
    ),
    "word pairs, one hostile": lambda text: (
        are_opposites(text, "fever"), look_alike(text, "fever"), is_misspelling(text, "fever"),
    ),
    **{f"measure {name}": _measure(name) for name in ("exact", "jaccard", "masi")},
    "sentences of a pair": _stage(Sentences()),
    "facts": lambda text: facts_of(normalize(text)),
    "facts of a pair": _stage(Facts()),
    "language": lambda text: language_profile([text, "fever"]),
    "suitability": lambda text: misfit_sentences(FunctionMeasure(lambda a, b: 0.5, "nli"), [normalize(text), *TEN]),
    "terminology": _coded,
    "probability of a judge": read_probability,
    "agreement": lambda text: softirr.agreement(_table(text), "jaccard").to_dict(),
    "page": _page,
    "table": _table,
    "CSV": _csv,
    "JSONL": _jsonl,
    "Label Studio": _answered,
    "consensus": lambda text: answers_hash(_answered(text)),
}  # fmt: skip

LONG = {
    *(
        "page",
        "reasons",
        "splitting, commas",
        "split_table",
        "suitability",
        "agreement",
        "terminology",
        "facts of a pair",
    ),
    "attribute values",
}
"""Readers that take many seconds for all texts.

`splitting, commas`, `attributes` and `codebook` use the same functions.
"""
ALL = [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [], id=name) for name in READERS]


def hostile(unit: str, length: int) -> str:
    """A text that repeats something, with a word before and after it."""
    return f"pain {(unit * (length // len(unit) + 1))[:length]} end"


def seconds(read: Callable[[str], Any], text: str) -> float:
    """Processor time of a reader; a refusal in one sentence is an answer.

    A collection of garbage would add the time of all objects that earlier tests left.
    """
    refusal = "none"
    gc.disable()
    start = time.process_time()
    try:
        read(text)
    except InputError as error:
        refusal = str(error)
    finally:
        taken = time.process_time() - start
        gc.enable()
    assert 0 < len(refusal) < 1_000, "a refusal does not repeat the text"
    return taken


def slowness() -> float:
    """Time of a fixed loop now, relative to an idle machine: processes that share a core slow each other down."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        sum(k * k for k in range(400_000))
        taken.append(time.process_time() - start)
    return max(1.0, min(taken) / REFERENCE)


def is_slow(taken: float) -> bool:
    """Whether a reader took too long, on this machine now."""
    return taken > SECONDS and taken > SECONDS * slowness()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_no_text_stops_a_reader(name: str) -> None:
    """Neither for a second, nor for a time that grows faster than its length."""
    read = READERS[name]
    for unit in REPEATED:  # everything that is compiled or loaded once
        seconds(read, hostile(unit, 20))

    def best(unit: str, length: int, enough: float) -> float:
        taken = seconds(read, hostile(unit, length))
        repetitions = range(2 if taken > enough else 0)  # a busy machine: the best of three
        return min([taken, *(seconds(read, f"{k}{hostile(unit, length)}") for k in repetitions)])

    def is_steep(unit: str) -> bool:
        """Whether the longer text takes too long for its length in each of ten rounds.

        Each round measures both, one after the other: other programs that slow a core down slow both. A reader with a
        time that grows with the square is above the limit in every round.
        """
        shorts, longs = [], []
        for k in range(10):
            shorts.append(seconds(read, f"{k}{hostile(unit, first)}"))
            longs.append(seconds(read, f"{k}{hostile(unit, second)}"))
            if min(longs) <= SLACK * second / first * min(shorts):
                return False
        return True

    slow, steep, long = {}, {}, {}
    first, second, longest = LENGTHS
    for unit in REPEATED:
        short, long[unit] = seconds(read, hostile(unit, first)), best(unit, second, SECONDS / 2)
        limit_seconds = SLACK * second / first * max(short, 0.002)
        if long[unit] > max(limit_seconds, 0.05) and is_steep(unit):
            steep[unit] = round(short, 4), round(long[unit], 4)
        if is_slow(max(short, long[unit])):
            slow[unit, second] = round(long[unit], 1)
    # the longest texts of the units that take most, and of some others, different ones for each reader
    slowest = sorted(REPEATED, key=lambda unit: -long[unit])[:5]
    for unit in {*slowest, *REPEATED[list(READERS).index(name) % 12 :: 12]}:
        taken = best(unit, longest, SECONDS / 2)
        if is_slow(taken):
            slow[unit, longest] = round(taken, 1)
    assert not slow and not steep


PIECES = st.lists(
    st.tuples(st.sampled_from(REPEATED) | st.text(max_size=4), st.sampled_from([1, 2, 7, 60, 500])), max_size=8
)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@settings(max_examples=8, deadline=None)
@given(pieces=PIECES)
def test_generated_texts_are_read(name: str, pieces: list[tuple[str, int]]) -> None:
    text = "".join(unit * times for unit, times in pieces)
    taken = seconds(READERS[name], text)
    assert taken < 2 * SECONDS or taken < 2 * SECONDS * slowness()


def test_marks_in_any_number_have_the_normal_form_of_unicode() -> None:
    marks = "\u0315\u0300\u0323\u0344\u0f71\u0345"
    for times in (1, 5, 40):
        text = f"a{marks * times}e{marks}"
        assert normalize(text) == unicodedata.normalize("NFC", text)
        assert normalize(normalize(text)) == normalize(text)
    swapped = "a" + "\u0300\u0323" * 100
    assert normalize(swapped) == normalize("a" + "\u0323\u0300" * 100), "marks of different classes have no order"


@pytest.mark.parametrize("joiner", [", ", "; ", "\n", "\n- "])
def test_a_thousand_parts_are_parts(joiner: str) -> None:
    words = [f"f{k:x}x" for k in range(1_000)]
    text = joiner.join(words)
    split_parts = split_text(text, "commas")
    assert len(split_parts) == 1_000
    assert split_parts[0].endswith("f0x") and split_parts[-1] == "f3e7x"


@given(st.text(alphabet='ab([{)]}"“”«» ', max_size=60))
def test_text_inside_brackets_is_recognized(text: str) -> None:
    inside: set[int] = set()
    closing = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}
    opened: list[tuple[str, int]] = []
    for index, mark in enumerate(text):
        if mark in closing:
            opened.append((closing[mark], index))
        elif opened and mark == opened[-1][0]:
            inside |= set(range(opened.pop()[1], index + 1))
    quotes = [index for index, mark in enumerate(text) if mark == '"']
    for start, stop in zip(quotes[::2], quotes[1::2], strict=False):
        inside |= set(range(start, stop + 1))
    assert protected(text) == [index in inside for index in range(len(text))]
