"""Whether a measure fits the texts: languages, scripts, lengths, agreement by chance, copies with a word swapped."""

from __future__ import annotations

import csv
import gzip
import hashlib
from pathlib import Path
from random import Random

import numpy as np
import pytest

import softirr
from softirr import AnnotationTable, Answer
from softirr.meaning.measures import suitability
from softirr.meaning.measures.languages import ENGLISH, language_profile
from softirr.meaning.measures.terminology import with_terminology
from tests.meaning.measures.function_measures import FunctionMeasure

SAMPLES = 15
"""Different texts of a small project."""
CLINICAL = [
    "knee pain", "dry cough", "headache for two days", "rash on the left arm", "fever and chills", "shortness of breath", "swollen ankles",
    "type 2 diabetes", "Sjögren syndrome", "Ménière's disease", "fracture of the wrist", "urinary tract infection", "blurred vision", "heartburn",
]  # fmt: skip


def foreign() -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    with open(Path(__file__).parent / "languages.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            texts.setdefault(row["language"], []).append(row["text"])
    return texts


def unseen(texts) -> list[str]:
    """The half that no threshold was fitted on, by a hash of the text."""
    return [text for text in dict.fromkeys(texts) if hashlib.sha256(text.encode()).digest()[0] % 2]


@pytest.mark.parametrize("language", sorted(foreign()))
def test_a_project_in_another_language_is_recognised(language):
    texts = unseen(foreign()[language])
    rng = Random(0)
    samples = [rng.sample(texts, min(SAMPLES, len(texts))) for _ in range(50)]
    assert np.mean([bool(suitability.text_misfits("nli", sample)) for sample in samples]) >= 0.9


def test_languages_have_their_names():
    names = {"fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "nl": "Dutch", "pt": "Portuguese"}
    for language, name in names.items():
        assert language_profile(foreign()[language]).name == name
    assert language_profile(foreign()["ru"]).name == "a language in Cyrillic script"
    assert language_profile(foreign()["zh"]).name == "Chinese or Japanese"
    assert language_profile(CLINICAL).name == ENGLISH == language_profile([]).name


def test_a_few_names_with_accents_are_english():
    assert not language_profile(["Sjögren syndrome", "Ménière's disease"]).is_foreign
    assert not suitability.text_misfits("nli", CLINICAL)


def test_english_tables_give_no_false_alarm(shared_data):
    rng = Random(0)
    alarms = 0
    for name in ("hpo", "cl", "icd10cm", "symp", "mesh_tree"):
        with gzip.open(
            shared_data / "benchmark" / "terminology" / name / "concepts.tsv.gz", "rt", encoding="utf-8"
        ) as file:
            texts = unseen(line.rstrip("\n").split("\t")[1] for line in file.readlines()[1:])
        alarms += sum(bool(suitability.text_misfits("nli", rng.sample(texts, 30))) for _ in range(40))
    assert alarms == 0


def test_long_texts_are_told_to_be_compared_in_sentences():
    long = ["The patient came with pain. " * 12, *CLINICAL]
    (misfit,) = suitability.text_misfits("nli", long)
    assert misfit.reason == "length" and "sentence by sentence" in misfit.sentence and "1 of 15" in misfit.sentence


def test_abbreviations_that_stand_alone_are_told_to_be_listed():
    texts = [*CLINICAL, "MI", "T2DM", "COVID-19"]
    (misfit,) = suitability.text_misfits("nli", texts)
    assert misfit.reason == "abbreviations" and f"3 of {len(texts)} texts" in misfit.sentence
    assert "as a terminology" in misfit.sentence
    assert not suitability.text_misfits("nli", [*CLINICAL, "MI", "T2DM", "acute MI", "Type II", "IV", "pH"])


def test_texts_in_capitals_are_no_abbreviations():
    assert not suitability.text_misfits("nli", [*map(str.upper, CLINICAL), "RASH", "COUGH", "FEVER"])


def test_with_terminologies_only_the_texts_that_none_knows_are_checked(tmp_path):
    short = ["MI", "CHF", "COPD", "SOB", "UTI"]
    file = tmp_path / "house.csv"
    rows = "".join(f"{k},meaning {k},{text}\n" for k, text in enumerate([*short, *foreign()["fr"]]))
    file.write_text(f"id,name,synonym\n{rows}", encoding="utf-8")
    measure = with_terminology(Constant(0.1, "nli"), [str(file)])
    assert not suitability.text_misfits(measure, [*CLINICAL, *short])
    assert not suitability.text_misfits(measure, foreign()["fr"])
    (misfit,) = suitability.text_misfits(measure, [*CLINICAL, *short, "AF", "DVT", "CABG"])
    assert f"3 of {len(CLINICAL) + 3} texts that no terminology knows are abbreviations" in misfit.sentence
    assert [m.reason for m in suitability.text_misfits(measure, foreign()["de"])] == ["language"]
    assert not suitability.text_misfits(measure, foreign()["de"][: suitability.FEWEST_TEXTS - 1])


def test_only_what_is_known_of_a_measure_is_said():
    texts = foreign()["fr"]
    assert suitability.text_misfits("nli", texts)
    assert not suitability.text_misfits("indel", texts) and not suitability.text_misfits("nli:mdeberta", texts)
    assert (
        suitability.chance_misfit("indel", 0.9, 50) is None
        and suitability.chance_misfit("nli:mdeberta", 0.9, 50) is not None
    )
    assert suitability.chance_misfit("nli", 0.9, suitability.FEWEST_TEXTS - 1) is None


def test_agreement_by_chance_counts_different_answers_only():
    # ten answers, different ones with P 0.2 each: (10 + 90 * 0.2) / 100
    assert suitability.chance_misfit("nli", 0.28, 10) is None
    misfit = suitability.chance_misfit("nli", (10 + 90 * 0.35) / 100, 10)
    assert misfit is not None and "0.35" in misfit.sentence and "audit" in misfit.sentence


class Constant(FunctionMeasure):
    """A model that gives one P for all texts that differ."""

    def __init__(self, p: float, name: str = "nli:toy") -> None:
        super().__init__(lambda a, b: p, name)


def test_copies_with_a_word_swapped():
    texts = [*CLINICAL, *(f"{part} injury" for part in ("kidney", "liver", "shoulder"))]
    pairs = suitability.swapped_copies(texts)
    assert len(pairs) == suitability.SWAPS and pairs == suitability.swapped_copies(texts[::-1])
    for one, other in pairs:
        assert one in texts and other != one and len(one.split()) == len(other.split())
    assert suitability.check_word_swaps(Constant(0.3), texts) is None
    misfit = suitability.check_word_swaps(Constant(0.9), texts)
    assert misfit is not None and "0.90" in misfit.sentence and "audit" in misfit.sentence
    assert suitability.check_word_swaps(Constant(0.9, "indel"), texts) is None
    assert (
        suitability.check_word_swaps(Constant(0.9), ["a", "b"]) is None
        and suitability.swapped_copies(["fever fever"]) == []
    )


def table(texts) -> AnnotationTable:
    return AnnotationTable.from_answers(
        Answer(str(k), rater, texts[(k + step) % len(texts)])
        for k in range(len(texts))
        for step, rater in enumerate(("ann", "bob"))
    )


@pytest.mark.slow
def test_the_report_begins_with_what_does_not_fit():
    report = softirr.agreement(table(foreign()["fr"][:14]), "nli", cache=None, progress=None)
    assert (
        len(report.misfits) == 1
        and "French" in report.misfits[0]
        and "An audit corrects" in report.misfits[0]
        and "--" not in report.misfits[0]
    )
    report_dict = report.to_dict()
    assert report_dict["misfits"] == list(report.misfits) == report_dict["warnings"][:1]
    lines = str(report).splitlines()
    assert lines[1] == f"Warning: {report.misfits[0]}" and sum(report.misfits[0] in line for line in lines) == 1
    assert not softirr.agreement(table(CLINICAL), "nli", cache=None, progress=None).misfits


def test_scores_show_what_the_texts_alone_do_not():
    report = softirr.agreement(table(CLINICAL), Constant(0.9), chance="exact", cache=None, progress=None)
    assert len(report.misfits) == 2 and "drawn at random" in report.misfits[0] and "copy" in report.misfits[1]
    assert not softirr.agreement(table(CLINICAL), Constant(0.1), chance="exact", cache=None, progress=None).misfits


def test_a_language_that_was_never_measured_is_named():
    (misfit,) = suitability.text_misfits("nli", foreign().get("el", ["πόνος στο γόνατο"] * 4))
    assert "Greek" in misfit.sentence and "never measured" in misfit.sentence


def test_auto_is_another_name_of_the_bundled_model():
    assert softirr.measure("auto").name == "nli"
