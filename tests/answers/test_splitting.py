"""One text that contains a list becomes several texts, at the marks that the user chooses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import softirr
from softirr.answers.prepare import split_table
from softirr.answers.splitting import SPLITS, Split, list_note, split_text
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.text import normalize


@pytest.mark.parametrize(
    ("mode", "text", "expected_parts"),
    [
        ("none", "fever, cough", ("fever, cough",)),
        ("lines", "fever\ncough, dry", ("fever", "cough, dry")),
        ("lines", "- fever\n- cough", ("fever", "cough")),
        ("lines", "the patient reports a pain that began in the left leg\nand moved upward", None),
        (
            "lines",
            "the patient reports a pain that began in the left leg.\nand moved upward",
            ("the patient reports a pain that began in the left leg.", "and moved upward"),
        ),
        (
            "lines",
            "eight words are few enough for a list\nand more",
            ("eight words are few enough for a list", "and more"),
        ),
        ("bullets", "* fever\n* dry\n  cough", ("fever", "dry cough")),
        ("bullets", "1. fever\n2) cough\n(3) rash", ("fever", "cough", "rash")),
        ("bullets", "• fever • cough", ("fever", "cough")),
        ("bullets", "2 days of fever", ("2 days of fever",)),
        ("bullets", "1) pain, 2) fever of 38. 5 days ago and 3) rash", ("pain", "fever of 38. 5 days ago", "rash")),
        ("bullets", "(1) Fever; (2) cough", ("Fever", "cough")),
        ("bullets", "1. Fever 2. Cough", ("Fever", "Cough")),
        ("bullets", "a) fever\nb) cough", ("fever", "cough")),
        ("bullets", "1. und 2. Zehe gebrochen", ("1. und 2. Zehe gebrochen",)),
        ("bullets", "1. Zehe oder 2. Finger", ("1. Zehe oder 2. Finger",)),
        ("bullets", "1. Rippe, 2. rippe", ("1. Rippe, 2. rippe",)),
        ("bullets", "1. Rippe gebrochen 2. Rippe geprellt", ("1. Rippe gebrochen 2. Rippe geprellt",)),
        ("bullets", "1. Zehe rechts, 2. Zehe links\n3. Zehe oben", ("Zehe rechts", "Zehe links", "Zehe oben")),
        ("bullets", "heading\n- a\nb\n- c", ("heading", "a b", "c")),
        ("bullets", "heading\nmore\n- a\nb", ("heading", "more", "a", "b")),
        ("bullets", "(3) a\nb\n- * c", ("a b", "c")),
        ("bullets", "1) Rippe und 2) Rippe", ("Rippe", "Rippe")),
        ("bullets", "1. Rippe links,\n2. Rippe rechts", ("Rippe links", "Rippe rechts")),
        ("bullets", "1. Rippe", ("1. Rippe",)),
        ("lines", "2. Rippe", ("2. Rippe",)),
        ("lines", "1. Rippe\n2. Rippe", ("1. Rippe", "2. Rippe")),
        ("bullets", "1. Rippe\n2. rippe\n3. Zehe", ("1. Rippe", "2. rippe", "3. Zehe")),
        ("bullets", "3. Rippe\n5. Zehe", ("3. Rippe", "5. Zehe")),
        ("bullets", "- 2. Rippe\n- 3. Zehe", ("2. Rippe", "3. Zehe")),
        ("bullets", "Findings:\n1. fever\n2. cough", ("Findings:", "fever", "cough")),
        ("bullets", "1. Heart\n1. pain\n2. Lung\n1. pain", ("Heart", "pain", "Lung", "pain")),
        ("bullets", "1) fever", ("fever",)),
        ("bullets", "1. No fever 2. No cough", ("No fever", "No cough")),
        ("bullets", "1) Fieber und 2) Husten", ("Fieber", "Husten")),
        ("bullets", "1) fièvre et 2) toux ou 3) mal de tête", ("fièvre", "toux", "mal de tête")),
        ("bullets", "1) hepatitis E 2) drug od 3) went to OR 4) ED", ("hepatitis E", "drug od", "went to OR", "ED")),
        ("bullets", "Grade 1) rash 2) burn", ("Grade 1) rash 2) burn",)),
        ("bullets", "1) fever 3) cough", ("fever 3) cough",)),
        ("lines", "1) fever 2) cough", ("fever 2) cough",)),
        ("semicolons", "fever, high; cough", ("fever, high", "cough")),
        ("semicolons", "- fever; - cough", ("fever", "cough")),
        ("semicolons", "120;80", ("120", "80")),
        ("commas", "fever, cough; headache", ("fever", "cough", "headache")),
        ("commas", "fever, cough, and headache", ("fever", "cough", "headache")),
        ("commas", "fever, cough and headache", ("fever", "cough", "headache")),
        ("commas", "nausea and vomiting", ("nausea and vomiting",)),
        ("commas", "hand, foot and mouth disease", ("hand", "foot and mouth disease")),
        ("commas", "pain (left, severe; dull), cough", ("pain (left, severe; dull)", "cough")),
        ("commas", 'says "fever, cough", rash', ('says "fever, cough"', "rash")),
        ("commas", "1,000 platelets, weight 81,5", ("1,000 platelets", "weight 81,5")),
        ("commas", "pain, severe, cough", ("pain, severe", "cough")),
        ("commas", "pain, left-sided, for 3 days", ("pain, left-sided, for 3 days",)),
        ("commas", "fever, which began on Monday", ("fever, which began on Monday",)),
        ("commas", "咳嗽，发烧、头痛；皮疹", ("咳嗽", "发烧", "头痛", "皮疹")),
        ("commas", "حمى، سعال؛ طفح", ("حمى", "سعال", "طفح")),
        ("semicolons", "حمى؛ سعال، طفح", ("حمى", "سعال، طفح")),
        (",", "حمى، سعال؛ طفح", ("حمى", "سعال؛ طفح")),
        ("、", "咳嗽，干、发烧、3、4", ("咳嗽,干", "发烧", "3、4")),
        ("semicolons", "😀; fever; 👍🏽", ("😀", "fever", "👍🏽")),
        ("semicolons", "fever; --; ●; ■; ──", ("fever",)),
        ("commas", "blood pressure 120/80", ("blood pressure 120/80",)),
        ("commas", "fever (unclosed, cough", ("fever (unclosed", "cough")),
        ("commas", " , ; ", (", ;",)),
        ("|", "fever | dry cough|rash", ("fever", "dry cough", "rash")),
        (";/", "fever / cough; 120/80", ("fever", "cough", "120/80")),
        (",", "fever, cough; rash", ("fever", "cough; rash")),
        (
            "sentences",
            "Fever for 3.5 days. Seen by Dr. Smith. No cough!",
            ("Fever for 3.5 days.", "Seen by Dr. Smith.", "No cough!"),
        ),
        ("sentences", "fever, cough; rash", ("fever, cough; rash",)),
    ],
)
def test_parts_of_a_text(mode: str, text: str, expected_parts: tuple[str, ...] | None) -> None:
    assert split_text(text, mode) == (expected_parts if expected_parts is not None else (" ".join(text.split()),))


@pytest.mark.parametrize("text", ["fever &amp; cough", "&lt;b&gt; fever", "38&#176; C", "caf&#xe9; rash"])
@pytest.mark.parametrize("mode", ["semicolons", "commas", ";"])
def test_semicolon_of_an_entity_does_not_split(text: str, mode: str) -> None:
    assert split_text(text, mode) == (normalize(text),)
    assert split_text(f"{text}; chills", mode) == (normalize(text), "chills")
    assert split_text("AT&T; cough", mode) == ("AT&T", "cough")


@pytest.mark.parametrize("mode", ["auto", "words", "", "a;", "; ", ";" * 11])
def test_unknown_mode_is_refused(mode: str) -> None:
    for refused in (lambda: softirr.Policy(split=mode), lambda: softirr.ReadOptions(split=mode)):
        with pytest.raises(InputError, match="can be none, lines"):
            refused()


def test_text_that_is_too_long_for_a_list_stays_whole_and_is_counted() -> None:
    short_entries = "; ".join(f"f{k}" for k in range(1_000))
    long = "; ".join(f"finding {k}" for k in range(1_000))
    table = AnnotationTable.from_answers([Answer("1", "ann", short_entries), Answer("1", "bob", long)])
    split = split_table(table, "semicolons")
    assert sorted(len(split.texts_of(int(a))) for a in split.answer) == [1, 1_000]
    assert split.warnings[-1].endswith("1 answer has more than 10,000 characters in one text and stays whole.")


@pytest.mark.parametrize("mode", ["lines", "bullets", "semicolons", "commas", "|", ","])
def test_joined_parts_are_split_into_the_same_parts(mode: str) -> None:
    expected_parts = ("fever", "dry cough", "rash")
    assert split_text(Split(mode).join(expected_parts), mode) == expected_parts


def test_one_box_agrees_with_three() -> None:
    rows = [Answer("1", "ann", "fever, cough; headache"), Answer("1", "bob", ("fever", "cough", "headache"))]
    table = AnnotationTable.from_answers(rows)
    assert softirr.agreement(table, "exact").coefficients["observed_agreement"].value == 0
    split = split_table(table, "commas")
    assert softirr.agreement(split, "exact").coefficients["observed_agreement"].value == 1
    assert split.written == table.written == (("fever, cough; headache",), ("fever", "cough", "headache"))
    assert split.warnings == (
        "Answers were split at line breaks, bullets, semicolons and commas (mode commas): "
        "1 of 2 answers holds several texts in one box.",
    )
    assert split_table(split, "lines") is split


def test_reading_splits_as_the_policy_does() -> None:
    rows = [("1", "ann", "fever; NA"), ("1", "bob", "fever"), ("2", "ann", "N/A"), ("2", "bob", "rash;itch")]
    frame = {"item": [row[0] for row in rows], "rater": [row[1] for row in rows], "text": [row[2] for row in rows]}
    pandas = pytest.importorskip("pandas")
    unsplit = softirr.read(pandas.DataFrame(frame))
    at_once = softirr.read(pandas.DataFrame(frame), split="/;")
    later = split_table(unsplit, "/;")
    assert at_once.texts == later.texts == ("fever", "itch", "rash"), "a mark for a missing answer is not split"
    assert at_once.written == later.written == (("fever; NA",), ("fever",), ("rash;itch",))
    assert sorted(map(str, at_once.excluded)) == sorted(map(str, later.excluded))


def test_splitting_none_switches_off_the_comparison_by_sentence() -> None:
    from softirr.meaning.measures.sentences_stage import Sentences
    from softirr.meaning.policy.measure import under_policy

    scorer = softirr.measure("exact").with_stage(Sentences())
    assert under_policy(scorer, softirr.Policy()).stage(Sentences)
    assert under_policy(scorer, softirr.Policy(split="lines")).stage(Sentences)
    assert not under_policy(scorer, softirr.Policy(split="none")).stage(Sentences)
    assert softirr.Policy.from_dict(softirr.Policy(split="none").to_dict()).split == "none"
    assert softirr.Policy.from_dict({"softirr_policy": 1, "split": "none"}).split is None


def test_note_names_the_option_against_the_comparison_by_sentence() -> None:
    from softirr.meaning.measures.sentences_stage import Sentences

    rows = [
        ("1", "ann", "No fever. Dry cough."),
        ("1", "bob", "Dry cough."),
        ("2", "ann", "rash"),
        ("2", "bob", "rash"),
    ]
    scorer = softirr.measure("exact").with_stage(Sentences())
    (note,) = [note for note in softirr.agreement(rows, scorer).warnings if "several sentences" in note]
    assert note == (
        "1 answer has several sentences: the measure compares paragraphs sentence by sentence. "
        "With the split mode none, it compares each as a whole."
    )
    whole_text_reports = (
        softirr.agreement(rows, scorer, policy=softirr.Policy(split="none")),
        softirr.agreement(rows, "exact"),
    )
    assert not any("several sentences" in note for report in whole_text_reports for note in report.warnings)


def test_table_keeps_the_written_text_with_its_lines() -> None:
    table = AnnotationTable.from_answers(
        [Answer("1", "ann", (" Fever \r\n\r\n- dry\tcough", "", "rash"))], casefold=True
    )
    assert table.written == (("Fever\n- dry cough", "rash"),)
    assert split_table(table, "lines").texts == ("dry cough", "fever", "rash")


ANY_TEXT = st.text(alphabet='abAB ,;/.()[]"\n-•&12and', max_size=40)


@given(ANY_TEXT, st.sampled_from([*SPLITS, "/", ";,"]))
def test_splitting_loses_no_letter_and_keeps_their_order(text: str, mode: str) -> None:
    expected_parts = split_text(text, mode)
    letters_of_parts = [letter for piece in expected_parts for letter in piece if letter.isalpha()]
    joining = sum(text.lower().count(word) for word in ("and", "plus", "as well as", "a)", "b)"))
    assert sum(map(str.isalpha, text)) - len(letters_of_parts) <= 3 * joining
    letters = iter(text)
    assert all(letter in letters for letter in letters_of_parts)
    assert all(piece.strip() for piece in expected_parts)


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("ab"), ANY_TEXT), unique_by=lambda row: row[:2]),
    st.sampled_from(SPLITS),
)
def test_table_is_split_row_by_row(rows: list[tuple[str, str, str]], mode: str) -> None:
    table = AnnotationTable.from_answers(rows)
    split = split_table(table, mode)
    assert split.item.tolist() == table.item.tolist() and split.rater.tolist() == table.rater.tolist()
    assert split.items == table.items and split.raters == table.raters and split.written == table.written
    for row, texts in enumerate(table.written):
        expected_parts = {piece for text in texts for piece in split_text(text, mode)}
        assert set(split.texts_of(int(split.answer[row]))) == expected_parts


def test_part_of_a_split_table_keeps_the_written_texts() -> None:
    rows = [Answer("1", "ann", "fever; cough"), Answer("2", "bob", "rash"), Answer("2", "ann", "itch")]
    piece = split_table(AnnotationTable.from_answers(rows), "semicolons").part(raters=["ann"])
    assert piece.written == (("fever; cough",), ("itch",))
    assert piece.texts_of(int(piece.answer[0])) == ("cough", "fever")
    assert piece.was_split(0) and not piece.was_split(1)


@pytest.mark.parametrize(
    ("texts", "n", "mode"),
    [
        (["fever; cough", "rash; itch", "fever", "rash"], 2, "semicolons"),
        ([("fever; cough", "pain"), "rash; itch", "fever", "rash"], 2, "semicolons"),
        (["fever\ncough", "rash\nitch", *["fever"] * 18], 2, "bullets"),
        (["fever\ncough", "rash\nitch", *["fever"] * 19], 0, ""),
        (["fever, rash, cough", "fever; itch", "rash"], 2, "commas"),
        (["fever; cough", "rash", "fever"], 0, ""),
        (["pneumonia, bacterial", "pneumonia, viral", "pneumonia"], 0, ""),
        (["He fell down the stairs and hit his head; then he slept"] * 9, 0, ""),
    ],
)
def test_note_on_answers_that_look_like_lists(texts: list[str], n: int, mode: str) -> None:
    rows = [Answer(str(k // 2), "ab"[k % 2], text) for k, text in enumerate(texts)]
    table = AnnotationTable.from_answers(rows)
    note = list_note(table.written)
    assert note.startswith(f"{n} of {len(texts)} answers look like lists in one box" if n else "")
    assert bool(note) == (n > 0) and f"split mode {mode}," in f"{note} split mode ,"
    for split, is_noted in ((None, n > 0), ("none", False), ("semicolons", False)):
        report = softirr.agreement(table, "indel", policy=softirr.Policy(split=split), progress=None)
        assert any("look like lists" in warning for warning in report.warnings) == is_noted
