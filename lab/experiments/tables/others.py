"""Three public collections of answers.

Differential diagnoses (derm_ddx), crowd answers (ProtoQA), disease mentions (NCBI Disease).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.experiments.draw import Draw
from lab.experiments.tables.annotated_table import Coded, GoldTable
from softirr.errors import InputError
from softirr.meaning.terminology import read_table, read_text

PROTOQA_RATERS = 10
NCBI_ITEMS = 500


def derm_ddx_cases(path: Path) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Each case with the conditions that each of its readers named, without the ranks.

    The file has lines ``{"case", "readers": [[[condition, ...], ...], ...]}``.
    """
    for line, row in _json_lines(path):
        if not isinstance(row, dict) or "case" not in row or not isinstance(row.get("readers"), list):
            raise InputError(f"{path}, line {line}: not a case with its readers.")
        yield str(row["case"]), [tuple(dict.fromkeys(_strings(ranks))) for ranks in row["readers"]]


def read_derm_ddx(path: Path, name: str) -> GoldTable:
    """Dermatologists' conditions (Stutz et al. 2023).

    The conditions come from a list, so each is its own code, and a measure can only err by matching different
    conditions.
    """
    return GoldTable.of(
        name,
        (
            Coded(case, f"reader {number}", names, names, {n: n for n in names})
            for case, readers in derm_ddx_cases(path)
            for number, names in enumerate(readers, start=1)
        ),
        place=str(path),
        notes=(
            "Readers are anonymous: reader 1 of one case need not be reader 1 of another.",
            "The texts are names from a list and their own codes, so the exact measure is right by construction.",
        ),
    )


def protoqa_questions(path: Path) -> Iterator[tuple[str, dict[str, int], dict[str, list[str]]]]:
    """Each question: its id, how often each answer was given, and the answers of each hand-made cluster."""
    for line, row in _json_lines(path):
        try:
            counts_by_text = {text: int(count) for text, count in row["answers"].get("raw", {}).items()}
            clusters = {key: list(cluster["answers"]) for key, cluster in row["answers"]["clusters"].items()}
            id = str(row.get("metadata", {}).get("id", line))
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InputError(f"{path}, line {line}: not a question with clusters of answers.") from None
        yield id, counts_by_text, clusters


def read_protoqa(path: Path, name: str) -> GoldTable:
    """Crowd answers to a question with hand-made clusters of the same meaning (Boratko et al. 2020).

    A question's answers are dealt to simulated raters.

    An item is a question; each of ``PROTOQA_RATERS`` simulated raters gives one of its answers, drawn without
    replacement by how often it was given. Answers in no cluster, or in several, are left out.
    """
    answers = []
    for id, counts, clusters in protoqa_questions(path):
        owners: dict[str, list[str]] = {}
        for key, texts in clusters.items():
            for text in texts:
                owners.setdefault(text, []).append(key)
        unambiguous = [t for t, keys in owners.items() if len(keys) == 1 for _ in range(counts.get(t, 1))]
        sample = Draw("protoqa", id).sample(unambiguous, min(PROTOQA_RATERS, len(unambiguous)))
        for number, text in enumerate(sample, start=1):
            code = owners[text][0]
            answers.append(Coded(id, f"pretended {number}", (text,), (code,), {text: code}))
    return GoldTable.of(
        name,
        answers,
        place=str(path),
        notes=("Raters are simulated: the collection does not say who gave an answer.",),
    )


def read_ncbi_disease(path: Path, name: str) -> GoldTable:
    """Disease mentions in abstracts with their concepts; simulated pairs of mentions of the same concept, or of any.

    Each of ``NCBI_ITEMS`` items draws a mention; the second rater's is with probability one half another mention of the
    same concept, else any. Mentions that stand for several concepts are left out.
    """
    mentions = [
        (row["mention"].strip(), row["concept"].strip())
        for _, row in read_table(path, ("mention", "concept"))
        if row["mention"].strip() and row["concept"].strip() and not set("|+") & set(row["concept"])
    ]
    if len(mentions) < 2:
        raise InputError(f"{path} has fewer than two mentions of a single concept.")
    same: dict[str, list[str]] = {}
    for text, concept in mentions:
        same.setdefault(concept, []).append(text)
    draw = Draw("ncbi_disease", len(mentions))
    answers = []
    for number in range(NCBI_ITEMS):
        text, concept = draw.choice(mentions)
        second = (draw.choice(same[concept]), concept) if draw.unit() < 0.5 else draw.choice(mentions)
        answers += [
            Coded(str(number), rater, (text,), (code,), {text: code})
            for rater, (text, code) in (("pretended 1", (text, concept)), ("pretended 2", second))
        ]
    return GoldTable.of(
        name,
        answers,
        place=str(path),
        notes=("Raters are simulated: pairs of mentions from different abstracts.",),
    )


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            try:
                yield line, json.loads(text)
            except (ValueError, RecursionError):
                raise InputError(f"{path}, line {line}: not valid JSON.") from None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry)
