"""Whether a measure fits the texts: their language, and agreement by chance."""

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
from softirr.meaning.measures.fact_comparisons import Facts
from softirr.meaning.measures.known_pairs import with_terminology
from softirr.meaning.measures.languages import ENGLISH, project_language
from softirr.meaning.measures.suitability import FEWEST_TEXTS, misfit_sentences, pairs_across_scripts
from softirr.meaning.terminology import load
from tests.meaning.measures.function_measures import FunctionMeasure

SAMPLES = 15
"""Different texts of a small project."""
CLINICAL = [
    "knee pain", "dry cough", "headache for two days", "rash on the left arm", "fever and chills",
    "shortness of breath", "swollen ankles",
    "type 2 diabetes", "Sjögren syndrome", "Ménière's disease", "fracture of the wrist", "urinary tract infection",
    "blurred vision", "heartburn",
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


class Constant(FunctionMeasure):
    """A model that gives one P for all texts that differ."""

    def __init__(self, p: float, name: str = "nli:toy") -> None:
        super().__init__(lambda a, b: p, name)


BUNDLED = Constant(0.1, "nli")


@pytest.fixture(scope="module")
def nli():
    """The bundled model, which takes half a second to open."""
    return softirr.measure("nli")


@pytest.mark.parametrize("language", sorted(foreign()))
def test_project_in_another_language_is_recognized(language):
    texts = unseen(foreign()[language])
    rng = Random(0)
    samples = [rng.sample(texts, min(SAMPLES, len(texts))) for _ in range(50)]
    assert np.mean([bool(misfit_sentences(BUNDLED, sample)) for sample in samples]) >= 0.9


def test_languages_have_their_names():
    names = {"fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "nl": "Dutch", "pt": "Portuguese"}
    for language, name in names.items():
        assert project_language(foreign()[language]) == name
    assert project_language(foreign()["ru"]) == "a language in Cyrillic script"
    assert project_language(foreign()["zh"]) == "Chinese or Japanese"
    assert project_language(CLINICAL) == ENGLISH
    assert project_language([]) is None


def test_a_few_names_with_accents_are_english():
    assert project_language(["Sjögren syndrome", "Ménière's disease"]) is None
    assert not misfit_sentences(BUNDLED, CLINICAL)


def test_languages_that_are_not_recognized_are_not_called_unmeasured():
    texts = ["œuf brisé", "smørrebrød", "kärsimys", "täyttö", "łóżko", "ağrı var mı"] * 3
    (sentence,) = misfit_sentences(BUNDLED, texts)
    assert "does not recognize their language" in sentence and "never measured" not in sentence


def test_english_tables_give_no_false_alarm(shared_data):
    rng = Random(0)
    alarms = 0
    for name in ("hpo", "cl", "icd10cm", "symp", "mesh_tree"):
        with gzip.open(
            shared_data / "benchmark" / "terminology" / name / "concepts.tsv.gz", "rt", encoding="utf-8"
        ) as file:
            texts = unseen(line.rstrip("\n").split("\t")[1] for line in file.readlines()[1:])
        alarms += sum(bool(misfit_sentences(BUNDLED, rng.sample(texts, 30))) for _ in range(40))
    assert alarms == 0


def test_texts_of_a_terminology_need_no_model(tmp_path):
    file = tmp_path / "house.csv"
    rows = "".join(f"{k},meaning {k},{text}\n" for k, text in enumerate(foreign()["fr"]))
    file.write_text(f"id,name,synonym\n{rows}", encoding="utf-8")
    measure = with_terminology(BUNDLED, [load(str(file))])
    assert not misfit_sentences(measure, foreign()["fr"])
    assert "German" in misfit_sentences(measure, foreign()["de"])[0]
    assert not misfit_sentences(measure, foreign()["de"][: FEWEST_TEXTS - 1])


def test_only_the_bundled_model_has_a_record_of_languages():
    assert "French" in misfit_sentences(BUNDLED, foreign()["fr"])[0]
    for name in ("indel", "nli:mdeberta"):
        assert not misfit_sentences(Constant(0.1, name), foreign()["fr"])


def test_agreement_by_chance_counts_different_answers_only():
    def warned(similarity: float, n_answers: int, name: str = "nli") -> tuple[str, ...]:
        return misfit_sentences(Constant(0.1, name), CLINICAL, similarity=similarity, n_answers=n_answers)

    # ten answers, different ones with P 0.2 each: (10 + 90 * 0.2) / 100
    assert not warned(0.28, 10)
    (sentence,) = warned((10 + 90 * 0.35) / 100, 10)
    assert "0.35" in sentence and "audit" in sentence
    assert warned(0.9, 50, "nli:mdeberta") and not warned(0.9, 50, "indel")
    assert not warned(0.9, FEWEST_TEXTS - 1)


def table(texts) -> AnnotationTable:
    return AnnotationTable.from_answers(
        Answer(str(k), rater, texts[(k + step) % len(texts)])
        for k in range(len(texts))
        for step, rater in enumerate(("ann", "bob"))
    )


@pytest.mark.slow
def test_report_begins_with_the_misfit(nli):
    report = softirr.agreement(table(foreign()["fr"][:14]), nli, cache=None, progress=None)
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
    assert not softirr.agreement(table(CLINICAL), nli, cache=None, progress=None).misfits


@pytest.mark.parametrize(
    ("first", "second", "is_read"),
    [
        ("左膝疼痛", "ひざの痛み", True),
        ("カタカナ", "漢字", True),
        ("MRI 膝关节", "MRI of the knee", True),
        ("α-synuclein", "synuclein alpha", True),
        ("38.5", "发烧", True),
        ("ECG", "심전도", True),
        ("Kopfschmerzen", "左膝疼痛", False),
        ("боль в колене", "knee pain", False),
        ("무릎 통증", "膝の痛み", False),
        ("✓ cough", "✗ cough", False),
        ("♂ patient", "♀ patient", False),
        ("grade Ⅱ", "grade Ⅲ", False),
        ("edema ++", "edema +++", False),
        ("👍", "👎", False),
        ("✓", "fever", False),
        ("👍🏻", "👍🏿", True),
        ("■ cough", "● cough", True),
        ("38 ± 1 °C", "38 °C", True),
        ("good 👍", "good", True),
    ],
)
def test_texts_in_two_scripts_or_with_other_symbols_are_not_compared(first, second, is_read, nli):
    texts = ["another text", first, second]
    assert pairs_across_scripts(texts, np.array([1, 2]), np.array([2, 1])).tolist() == [not is_read] * 2
    if not is_read:
        assert nli.without(Facts).score([(first, second), (second, first)]).tolist() == [0, 0]


def test_answers_in_two_scripts_are_counted(nli):
    rows = [(str(k), rater, text) for k, text in enumerate(CLINICAL) for rater in ("ann", "bob")]
    rows[1], rows[5] = ("0", "bob", "膝盖疼痛"), ("2", "bob", "боль в голове")
    report = softirr.agreement(rows, nli, cache=None, progress=None)
    sentence = "2 pairs of answers to one item are in different scripts"
    assert [warning for warning in report.warnings if warning.startswith(sentence)]
    assert not report.misfits, "the other answers are compared as ever"
    assert report.items[0].agreement == report.items[2].agreement == 0
    assert not any(sentence in warning for warning in softirr.agreement(rows, Constant(0.1), cache=None).warnings)


def test_one_answer_with_another_symbol_does_not_change_the_record_of_the_measure(nli):
    rows = [(str(k), rater, text) for k, text in enumerate(CLINICAL) for rater in ("ann", "bob")]
    rows[0], rows[1] = ("0", "ann", "✓ cough"), ("0", "bob", "cough")
    same_symbol = softirr.agreement(rows, nli, cache=None, progress=None)
    rows[1] = ("0", "bob", "✗ cough")
    other_symbol = softirr.agreement(rows, nli, cache=None, progress=None)
    assert same_symbol.record == other_symbol.record
    assert other_symbol.items[0].agreement == 0


def test_constant_scores_cause_a_misfit():
    report = softirr.agreement(table(CLINICAL), Constant(0.9), chance="exact", cache=None, progress=None)
    assert len(report.misfits) == 1 and "drawn at random" in report.misfits[0]
    assert not softirr.agreement(table(CLINICAL), Constant(0.1), chance="exact", cache=None, progress=None).misfits


def test_a_language_that_was_never_measured_is_named():
    (sentence,) = misfit_sentences(BUNDLED, foreign().get("el", ["πόνος στο γόνατο"] * 4))
    assert "Greek" in sentence and "never measured" in sentence


def test_auto_is_another_name_of_the_bundled_model():
    assert softirr.measure("auto").name == "nli"
