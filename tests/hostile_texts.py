"""Hostile texts, and everything that reads the texts of annotators."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import softirr
from ml_backend.labelstudio.answers import Reading, answers_hash, read_task
from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from softirr.answers.prepare import split_table
from softirr.answers.splitting import split_text
from softirr.answers.table import AnnotationTable, Answer
from softirr.meaning.measures import measure
from softirr.meaning.measures.fact_comparisons import Facts
from softirr.meaning.measures.facts import facts_of
from softirr.meaning.measures.judge import read_probability
from softirr.meaning.measures.languages import project_language
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.stages import Stage
from softirr.meaning.measures.suitability import misfit_sentences
from softirr.meaning.policy.attribute_values import value
from softirr.meaning.policy.attributes import KINDS, attributes, without
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.reasons import are_opposites, is_misspelling, known_words, look_alike
from softirr.meaning.policy.rules import Policy
from softirr.meaning.terminology import load
from softirr.meaning.terminology.concepts import NameLookup
from softirr.report.page.render import report_page
from softirr.report.view import view
from softirr.text import is_blank, normalize, normalize_lines, plain_number, protected, sentences
from tests.meaning.measures.function_measures import FunctionMeasure

TEN = [f"finding number {word}" for word in ("one", "two", "six", "ten", "red", "old", "new", "big", "far", "low")]

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
    *("5 mg ", "twenty-", "more than "),
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
    answers, _ = read_task({"id": 1, "annotations": annotations}, Reading([control], project_settings))
    return AnswerPreparation(project_settings).task({"number": 1, "answers": answers})["answers"]


def _stage(stage: Stage) -> Callable[[str], Any]:
    def step(text: str) -> Any:
        texts = [normalize(text), "fever. No cough.", normalize(f"{text} too")]
        prepared = stage.prepare(texts, lambda: 0.0)
        return prepared.directions(np.array([0, 1, 0, 2]), np.array([1, 0, 2, 0]), lambda a, b: np.ones((len(a), 2)))

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
    "language": lambda text: project_language([text, "fever"]),
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

LONG = {"page", "reasons", "splitting, commas", "split_table", "suitability", "agreement", "terminology"}
LONG |= {"facts of a pair", "attribute values"}
"""Readers that take many seconds for all texts.

`splitting, commas`, `attributes` and `codebook` use the same functions.
"""


def hostile(unit: str, length: int) -> str:
    """A text that repeats something, with a word before and after it."""
    return f"pain {(unit * (length // len(unit) + 1))[:length]} end"
