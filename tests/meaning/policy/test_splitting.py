"""One text that holds a list becomes several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import softirr
from softirr.answers.table import AnnotationTable, Answer, Split
from softirr.errors import InputError
from softirr.meaning.policy.lists import enumeration_as_lines
from softirr.meaning.policy.rules import SPLITS
from softirr.meaning.policy.splitting import Splitting, choose_splitting, split_table

LISTS = ["fever, cough", "fever", "cough", "headache", "rash", "nausea", "vomiting"]


@pytest.mark.parametrize(
    ("mode", "text", "parts"),
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
        ("bullets", "1) Rippe und 2) Rippe", ("Rippe", "Rippe")),
        ("bullets", "1. Rippe links,\n2. Rippe rechts", ("Rippe links", "Rippe rechts")),
        ("bullets", "1. Rippe", ("1. Rippe",)),
        ("auto", "2. Rippe", ("2. Rippe",)),
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
        ("bullets", "1) vitamin e 2) rash", ("vitamin e", "rash")),
        ("bullets", "Grade 1) rash 2) burn", ("Grade 1) rash 2) burn",)),
        ("bullets", "1) fever 3) cough", ("fever 3) cough",)),
        ("lines", "1) fever 2) cough", ("fever 2) cough",)),
        ("semicolons", "fever, high; cough", ("fever, high", "cough")),
        ("commas", "fever, cough; headache", ("fever", "cough", "headache")),
        ("commas", "fever, cough, and headache", ("fever", "cough", "headache")),
        ("commas", "fever, cough and headache", ("fever", "cough", "headache")),
        ("commas", "pain (left, severe; dull), cough", ("pain (left, severe; dull)", "cough")),
        ("commas", 'says "fever, cough", rash', ('says "fever, cough"', "rash")),
        ("commas", "1,000 platelets, weight 81,5", ("1,000 platelets", "weight 81,5")),
        ("commas", "pain, severe, cough", ("pain, severe", "cough")),
        ("commas", "fever, which began on Monday", ("fever, which began on Monday",)),
        ("commas", "nausea and vomiting", ("nausea", "vomiting")),
        ("commas", "nausea / vomiting", ("nausea", "vomiting")),
        ("commas", "nausea and vomiting syndrome", ("nausea and vomiting syndrome",)),
        ("commas", "severe nausea and vomiting", ("severe nausea", "vomiting")),
        ("commas", "hand, foot and mouth disease", ("hand", "foot and mouth disease")),
        ("commas", "rash and wheal and fever", ("rash and wheal and fever",)),
        ("commas", "rash and nausea and fever", ("rash", "nausea", "fever")),
        ("commas", "blood pressure 120/80", ("blood pressure 120/80",)),
        ("commas", "and/or", ("and/or",)),
        ("commas", "fever (unclosed, cough", ("fever (unclosed", "cough")),
        ("commas", " , ; ", (", ;",)),
        (
            "sentences",
            "Fever for 3.5 days. Seen by Dr. Smith. No cough!",
            ("Fever for 3.5 days.", "Seen by Dr. Smith.", "No cough!"),
        ),
        ("sentences", "fever, cough; rash", ("fever, cough; rash",)),
    ],
)
def test_parts_of_a_text(mode: str, text: str, parts: tuple[str, ...] | None) -> None:
    result = choose_splitting([*LISTS, text], mode).parts(text)  # type: ignore[arg-type]
    assert result == (parts if parts is not None else (" ".join(text.split()),))


@pytest.mark.parametrize(
    "text",
    ["1. Rippe und 2. Rippe", "1. Rippe, 2. rippe", "1. Rippe gebrochen 2. Rippe geprellt", "1. Zehe und 2. Finger"],
)
def test_ordinal_numbers_are_no_enumeration(text: str) -> None:
    assert enumeration_as_lines(text) == text
    assert len(choose_splitting([*LISTS, text], "bullets").parts(text)) == 1


def test_numbers_of_one_noun_on_several_lines_are_an_enumeration() -> None:
    text = "1. Zehe rechts, 2. Zehe links\n3. Zehe oben"
    assert enumeration_as_lines(text) == "- Zehe rechts\n- Zehe links\n- Zehe oben"


def test_auto_splits_at_a_mark_that_lists_have() -> None:
    splitting = choose_splitting(["fever, cough; headache", "fever", "cough", "headache"])
    assert splitting.parts("fever, cough; headache") == ("fever", "cough", "headache")


def test_and_is_a_mark_where_it_joins_single_texts_in_more_than_half() -> None:
    texts = ["fever and cough", "fever", "cough"]
    assert "and" in choose_splitting(texts).marks and "and" not in choose_splitting([*texts, "black and white"]).marks


def test_auto_leaves_inverted_names_and_prose_alone() -> None:
    names = ["pneumonia, bacterial", "pneumonia, viral", "carcinoma, basal cell", "fever"]
    assert "commas" not in choose_splitting(names).marks
    prose = [
        "The patient fell down the stairs yesterday, hit her head on the wall and lost consciousness. She has no memory of it at all.",
        "The patient reports a cough that began two weeks ago, at first dry and then with green sputum. He has smoked for twenty years.",
    ]
    splitting = choose_splitting(prose)
    assert "sentences" in splitting.marks and "commas" not in splitting.marks
    assert [len(splitting.parts(text)) for text in prose] == [2, 2]


SLASHED = [
    *("fever / cough", "headache / nausea / rash", "knee pain / swelling", "cough / dizziness", "chills / sweating"),
    *("back pain", "weight loss", "hair loss", "itch", "earache", "tremor", "fainting"),
]


def test_auto_splits_at_slashes_where_they_are_the_separator_of_lists() -> None:
    splitting = choose_splitting(SLASHED)
    assert splitting.marks == ("lines", "slashes") and splitting.joiner == " / "
    assert splitting.parts("headache / nausea / rash") == ("headache", "nausea", "rash")
    with_evidence = [*(f"finding number {k}" for k in range(40)), "fever", "fever / cough"]
    assert choose_splitting(with_evidence).parts("fever / cough") == ("fever", "cough")


@pytest.mark.parametrize(
    "texts",
    [
        ["T2 / FLAIR lesion", *(f"finding number {k}" for k in range(20))],
        ["absent / small", "mild / moderate", "left / right", "fever"],
        ["120 / 80", "130 / 85", "140 / 90", "fever"],
    ],
)
def test_auto_leaves_slashes_that_separate_no_findings(texts: list[str]) -> None:
    assert "slashes" not in choose_splitting(texts).marks


@pytest.mark.parametrize("text", ["fever &amp; cough", "&lt;b&gt; fever", "38&#176; C", "caf&#xe9; rash"])
def test_the_semicolon_of_an_entity_separates_nothing(text: str) -> None:
    for mode in ("semicolons", "commas", "auto"):
        splitting = choose_splitting(["fever; cough", "rash; itch", text], mode)  # type: ignore[arg-type]
        assert splitting.parts(text) == (text,)
        assert splitting.parts(f"{text}; chills") == (text, "chills")
    assert choose_splitting(["AT&T; cough"], "semicolons").parts("AT&T; cough") == ("AT&T", "cough")


def test_a_text_that_is_too_long_for_a_list_stays_whole_and_is_counted() -> None:
    many = "; ".join(f"f{k}" for k in range(1_000))
    long = "; ".join(f"finding {k}" for k in range(1_000))
    table = AnnotationTable.from_answers([Answer("1", "ann", many), Answer("1", "bob", long)])
    split = split_table(table, "semicolons")
    assert sorted(len(split.texts_of(int(a))) for a in split.answer) == [1, 1_000]
    assert "1 answer has more than 10,000 characters" in split.warnings[-1]


def test_suggestions_are_joined_as_the_raters_write() -> None:
    def joined(*texts: str) -> str:
        table = AnnotationTable.from_answers([Answer("1", "ann", texts[0]), Answer("1", "bob", texts[1])])
        split = split_table(table, "auto").split
        assert split is not None
        return split.join(("fever", "cough"))

    assert joined("fever, cough, rash", "cough") == "fever, cough"
    assert joined("fever; cough; rash", "cough") == "fever; cough"
    assert joined("- fever\n- cough\n- rash", "cough") == "- fever\n- cough"
    assert joined("fever\ncough\nrash", "cough") == "fever\ncough"


def test_answers_with_one_list_among_several_texts_are_counted() -> None:
    rows = [Answer("1", "ann", ("fever; cough", "rash")), Answer("1", "bob", ("rash", "itch"))]
    split = split_table(AnnotationTable.from_answers(rows), "semicolons").split
    assert split is not None and split.answers == 1


def test_auto_splits_at_commas_where_most_parts_stand_alone() -> None:
    names = ["fever", "cough", "itch"]
    lists = ["fever, cough, rash, hives, tics"]  # two of five, then three of five
    assert "commas" not in choose_splitting([*names, *lists]).marks
    assert "commas" in choose_splitting([*names, "hives", *lists]).marks
    half = ["fever, cough, rash, hives"]
    assert "commas" not in choose_splitting([*names, *half]).marks


def test_auto_splits_at_slashes_where_most_lists_have_a_text_that_stands_alone() -> None:
    others = [f"finding number {k}" for k in range(40)]
    assert "slashes" in choose_splitting([*others, "fever / rash", "fever"]).marks
    assert "slashes" not in choose_splitting([*others, "fever / rash", "fever", "cough / itch"]).marks
    assert "slashes" in choose_splitting([*others, "fever / rash", "fever", "cough / itch / tics"]).marks


def test_one_box_agrees_with_three() -> None:
    rows = [Answer("1", "ann", "fever, cough; headache"), Answer("1", "bob", ("fever", "cough", "headache"))]
    table = AnnotationTable.from_answers(rows)
    assert softirr.agreement(table, "exact").coefficients["observed_agreement"].value == 0
    split = split_table(table, "auto")
    assert softirr.agreement(split, "exact").coefficients["observed_agreement"].value == 1
    assert split.written == table.written == (("fever, cough; headache",), ("fever", "cough", "headache"))
    assert split.warnings == (
        "Answers were split at line breaks, semicolons and commas (auto decided from all answers): 1 of 2 answers holds several texts in one box.",
    )


@pytest.mark.parametrize(("long", "stays"), [(1, "answer has"), (2, "answers have")])
def test_answers_that_are_too_long_to_be_split_are_counted(long: int, stays: str) -> None:
    texts = ["fever; cough", *[f"{'x' * 10_000};y"] * long]
    table = AnnotationTable.from_answers(Answer("1", f"rater {k}", text) for k, text in enumerate(texts))
    (warning,) = split_table(table, "semicolons").warnings
    stay = "stays" if long == 1 else "stay"
    assert warning.endswith(f" {long} {stays} more than 10,000 characters in one text and {stay} whole.")


def test_a_table_keeps_what_was_written_with_its_lines() -> None:
    table = AnnotationTable.from_answers(
        [Answer("1", "ann", (" Fever \r\n\r\n- dry\tcough", "", "rash"))], casefold=True
    )
    assert table.written == (("Fever\n- dry cough", "rash"),)
    assert split_table(table, "lines").texts == ("dry cough", "fever", "rash")


def test_splitting_nothing_changes_nothing() -> None:
    table = AnnotationTable.from_answers([Answer("1", "ann", "fever, cough"), Answer("1", "bob", ())])
    assert split_table(table, "none") is table
    for mode in SPLITS[1:]:
        kept = split_table(
            AnnotationTable.from_answers([Answer("1", "ann", "dry cough"), Answer("1", "bob", ())]), mode
        )
        assert kept.texts == ("dry cough",)
        assert [kept.texts_of(a) for a in kept.answer] == [("dry cough",), ()]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InputError, match="can be none, auto, lines"):
        choose_splitting(["fever"], "words")  # type: ignore[arg-type]


WORDS = st.lists(
    st.sampled_from(["fever", "dry cough", "rash", "knee pain", "headache"]), min_size=1, max_size=5, unique=True
)
ANY_TEXT = st.text(alphabet='abAB ,;/.()[]"\n-•&12and', max_size=40)


@given(ANY_TEXT, st.sampled_from(SPLITS))
def test_splitting_twice_is_splitting_once_and_loses_no_letter(text: str, mode: str) -> None:
    splitting = choose_splitting([text, "a", "b", "ab"], mode)  # type: ignore[arg-type]
    parts = splitting.parts(text)
    assert tuple(again for part in parts for again in splitting.parts(part)) == parts
    kept = [letter for part in parts for letter in part if letter.isalpha()]
    joining = sum(text.lower().count(word) for word in ("and", "plus", "as well as"))
    assert sum(map(str.isalpha, text)) - len(kept) <= 3 * joining
    letters = iter(text)
    assert all(letter in letters for letter in kept), "letters are in order"
    assert all(part.strip() for part in parts)


@given(WORDS, st.sampled_from(["lines", "bullets", "semicolons", "commas"]))
def test_joined_parts_are_split_again_into_themselves(words: list[str], mode: str) -> None:
    joiner = {"lines": "\n", "bullets": "\n- ", "semicolons": "; ", "commas": ", "}[mode]
    text = Split(mode, (), joiner, 0).join(words)
    assert choose_splitting([text], mode).parts(text) == tuple(words)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("ab"), ANY_TEXT), unique_by=lambda row: row[:2]),
    st.sampled_from(SPLITS),
)
def test_a_table_is_split_row_by_row(rows: list[tuple[str, str, str]], mode: str) -> None:
    table = AnnotationTable.from_answers(Answer(*row) for row in rows)
    split = split_table(table, mode)  # type: ignore[arg-type]
    assert np.array_equal(split.item, table.item) and np.array_equal(split.rater, table.rater)
    assert split.items == table.items and split.raters == table.raters
    splitting = (
        Splitting("none", ()) if split.split is None else choose_splitting((t for w in table.written for t in w), mode)
    )  # type: ignore[arg-type]
    for row, given_texts in enumerate(table.written):
        assert set(split.texts_of(int(split.answer[row]))) == {
            part for text in given_texts for part in splitting.parts(text)
        }


def test_a_part_of_a_split_table_keeps_what_was_written() -> None:
    rows = [Answer("1", "ann", "fever; cough"), Answer("2", "bob", "rash"), Answer("2", "ann", "itch")]
    part = split_table(AnnotationTable.from_answers(rows), "semicolons").part(raters=["ann"])
    assert part.written == (("fever; cough",), ("itch",))
    assert part.texts_of(int(part.answer[0])) == ("cough", "fever")
    assert part.was_split(0) and not part.was_split(1)


@pytest.mark.parametrize(
    ("texts", "n"),
    [
        (["fever; cough", "rash; itch", "fever", "rash"], 2),
        ([("fever; cough", "pain"), "rash; itch", "fever", "rash"], 2),
        (["fever\ncough", "rash\nitch", *["fever"] * 18], 2),
        (["fever\ncough", "rash\nitch", *["fever"] * 19], 0),
        (["fever; cough", "rash", "fever"], 0),
        (["pneumonia, bacterial", "pneumonia, viral", "pneumonia"], 0),
    ],
)
def test_answers_that_look_like_lists_are_noted_where_they_are_not_split(texts: list[str], n: int) -> None:
    rows = [Answer(str(place // 2), "ab"[place % 2], text) for place, text in enumerate(texts)]
    table = AnnotationTable.from_answers(rows)
    note = f"{n} of {len(texts)} answers look like lists in one box"
    whole, split = (
        softirr.agreement(table, "indel", policy=softirr.Policy(split=mode), progress=None).warnings
        for mode in ("none", "auto")
    )
    assert any(one.startswith(note) for one in whole) == (n > 0)
    assert not any("look like lists" in one for one in split)
