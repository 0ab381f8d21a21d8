"""Why two texts do not match; and two words side by side, against a plain loop over all opposites."""

import csv
import hashlib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr.meaning.lexicon import opposites
from softirr.meaning.measures import measure
from softirr.meaning.policy.explain import explain
from softirr.meaning.policy.reasons import REASONS, Reason, are_opposites, is_misspelling, look_alike
from softirr.report.reasons import explain_items, open_pairs
from tests.meaning.measures.function_measures import FunctionMeasure

LABELLED = Path(__file__).with_name("labeled_reasons.csv")


def labeled() -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Pairs with their reason, labeled by hand before there was code.

    Those looked at while it was written, and those that never were.
    """
    with LABELLED.open(encoding="utf-8") as file:
        rows = [(row["text_a"], row["text_b"], row["reason"]) for row in csv.DictReader(file)]
    halves: tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]] = [], []
    for row in rows:
        halves[hashlib.sha256(f"{row[0]}\n{row[1]}".encode()).digest()[0] % 2].append(row)
    return halves


def recognized(reason: Reason, a: str) -> str:
    """A reason in the form of the labels."""
    if reason.kind != "more general":
        return "+".join(sorted(reason.kinds))
    first = reason.left_wording == a or reason.words.startswith(f"“{a}” is")
    return "+".join(sorted([f"{'first' if first else 'second'} more general", *reason.also]))


def share_right(rows: list[tuple[str, str, str]], scored_by: Any) -> float:
    reasons = explain([(a, b) for a, b, _ in rows], scored_by)
    right = [
        "+".join(sorted(want.split("+"))) == recognized(reason, a)
        for (a, _, want), reason in zip(rows, reasons, strict=True)
    ]
    return float(np.mean(right))


def test_enough_pairs_are_labeled() -> None:
    developed_on, held_out = labeled()
    assert len(developed_on) + len(held_out) >= 300 and min(len(developed_on), len(held_out)) >= 150


def test_reasons_of_labeled_pairs_without_a_model() -> None:
    developed_on, held_out = labeled()
    assert share_right(developed_on, measure("indel")) >= 0.78
    assert share_right(held_out, measure("indel")) >= 0.78


@pytest.mark.slow
def test_reasons_of_labeled_pairs_with_the_bundled_model() -> None:
    developed_on, held_out = labeled()
    nli = measure("nli", precision="float32", device="cpu")
    assert share_right(developed_on, nli) >= 0.85
    assert share_right(held_out, nli) >= 0.85


@pytest.mark.parametrize(
    ("a", "b", "kind", "words"),
    [
        ("left knee pain", "right knee pain", "side", "left against right"),
        ("severe headache", "headache", "severity", "“severe” against no severity"),
        ("fever, cough, headache", "cough", "list", "fever, cough, headache against cough"),
        ("fever/cough", "cough", "list", "fever/cough against cough"),
        ("https://x.org/one", "https://x.org/two", "unrelated", "https://x.org/one against https://x.org/two"),
        ("x.org/cat&dog", "x.org/cat&hen", "unrelated", "x.org/cat&dog against x.org/cat&hen"),
        ("see /usr/one", "see /usr/two", "unrelated", "see /usr/one against see /usr/two"),
        ("weight gain", "weight loss", "contradiction", "gain against loss"),
        ("hypertension", "hypotension", "contradiction", "hypertension against hypotension"),
        ("no fever but cough", "no cough but fever", "contradiction", "no fever but cough against no cough but fever"),
        ("haemorrhage", "hemorrhage", "spelling", "haemorrhage against hemorrhage"),
        ("head ache", "headache", "spelling", "head ache against headache"),
        ("ileum", "ilium", "look-alike", "ileum against ilium"),
        ("pneumonia scar", "scar pnuemonia", "unrelated", "pneumonia scar against scar pnuemonia"),
        ("ulcer", "gastric ulcer", "more general", "“ulcer” is more general than “gastric ulcer”"),
        ("gastric ulcer", "ulcer", "more general", "“ulcer” is more general than “gastric ulcer”"),
        ("rash", "fever", "unrelated", "rash against fever"),
    ],
)
def test_kinds_of_reasons(a: str, b: str, kind: str, words: str) -> None:
    (reason,) = explain([(a, b)], measure("exact"))
    assert (reason.kind, reason.words) == (kind, words)


def test_attributes_that_only_explain_together() -> None:
    (reason,) = explain([("severe left knee pain", "mild right knee pain")], measure("exact"))
    assert reason.kinds == ("side", "severity")
    assert reason.to_dict() == {"kind": "side", "also": ["severity"], "words": "left against right"}


def test_directions_say_which_text_is_more_general() -> None:
    reasons = explain([("T cell", "lymphocyte")], measure("exact"), np.array([[0.9, 0.01]]))
    assert reasons[0].words == "“lymphocyte” is more general than “T cell”"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("right arm weakness", "weak left arm"),
        ("can't sleep", "can sleep"),
        ("minor bleeding", "major bleeding"),
        ("blurred vision OS", "blurred vision OD"),
    ],
)
def test_text_with_another_attribute_is_not_called_more_general(a: str, b: str) -> None:
    """The text without the attribute is not evidence about the original text."""
    (reason,) = explain([(a, b)], measure("indel"))
    assert reason.kind != "more general", reason.words


def test_more_general_text_with_another_difference_gets_both_reasons() -> None:
    (reason,) = explain([("left ulcer", "right gastric ulcer")], measure("exact"))
    assert reason.kinds == ("more general", "side")
    assert reason.words == "“ulcer” is more general than “gastric ulcer”, apart from side"


TEXTS = st.sampled_from(
    ["severe left knee pain", "knee pain", "fever, cough", "cough", "no cough", "rash", "rashes", "2 cm rash", ""]
)


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
@settings(deadline=None)
def test_every_pair_has_one_reason(pairs: list[tuple[str, str]]) -> None:
    reasons = explain(pairs, measure("indel"))
    assert len(reasons) == len(pairs)
    assert all(reason.kind in REASONS and reason.words for reason in reasons)
    assert reasons == tuple(explain([pair], measure("indel"))[0] for pair in pairs)


SETS = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True).map(tuple)


@given(st.dictionaries(st.sampled_from(["ann", "bob", "cid"]), SETS))
@settings(deadline=None)
def test_every_text_without_a_match_has_a_reason(given_texts: dict[str, tuple[str, ...]]) -> None:
    def same(pairs: Any) -> Any:
        return np.array([float(a == b) for a, b in pairs])

    unmatched = open_pairs(given_texts, same)
    (reasons,) = explain_items(
        [unmatched],
        lambda pairs: np.repeat(same(pairs)[:, None], 2, axis=1),
        lambda pairs, directions: explain(pairs, measure("exact")),
    )
    for a, texts_of_a in given_texts.items():
        for b, texts_of_b in given_texts.items():
            reasons_of_pair = [reason for reason in reasons if reason.raters == (a, b)]
            unshared_texts = set(texts_of_a) ^ set(texts_of_b)
            if reasons_of_pair:
                assert {text for entry in reasons_of_pair for text in entry.texts if text} >= unshared_texts
            assert not reasons_of_pair or unshared_texts
    assert all((reason.reason.kind == "one rater only") >= (None in reason.texts) for reason in reasons)


@given(st.integers(1, 4), st.integers(1, 4), st.data())
@settings(deadline=None)
def test_texts_without_a_match_are_paired_the_closest_first(n: int, m: int, data: st.DataObject) -> None:
    values = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7])
    p = np.array(data.draw(st.lists(values, min_size=n * m, max_size=n * m))).reshape(n, m)
    ann_texts, ben_texts = [f"a{i}" for i in range(n)], [f"b{j}" for j in range(m)]
    unmatched = open_pairs({"ann": ann_texts, "ben": ben_texts}, lambda _: p.ravel())
    rows, columns = np.flatnonzero(p.max(axis=1) < 0.5).tolist(), np.flatnonzero(p.max(axis=0) < 0.5).tolist()
    expected = []
    while rows and columns:
        row, column = np.unravel_index(np.argmax(p[np.ix_(rows, columns)]), (len(rows), len(columns)))
        expected.append((ann_texts[rows.pop(row)], ben_texts[columns.pop(column)], False))
    expected += [(ann_texts[row], ben_texts[int(np.argmax(p[row]))], True) for row in rows]
    expected += [(ann_texts[int(np.argmax(p[:, column]))], ben_texts[column], True) for column in columns]
    assert [(*entry.texts, entry.lone is not None) for entry in unmatched] == expected


@pytest.mark.parametrize(
    "texts",
    [
        tuple(", ".join(f"{letter}{k}" for k in range(400)) for letter in "xy"),
        tuple(" ".join(f"{letter}{k}" for k in range(100_000)) for letter in "xy"),
    ],
    ids=["lists", "long texts"],
)
def test_the_work_on_one_pair_is_bounded(texts: tuple[str, str]) -> None:
    counting_measure = FunctionMeasure(lambda a, b: 0.0)
    (reason,) = explain([texts], counting_measure)
    assert reason.kind == "unrelated" and len(counting_measure.asked) <= 250


def test_negation_in_a_single_text_is_described_in_words() -> None:
    ((reason,),) = ([entry.words for entry in explain([("rash", "no rash")], softirr.measure("indel"))],)
    assert reason == "affirmed against negated (“no”)"


PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "ab", "non-")


def plainly(first: str, second: str) -> bool:
    def is_stem(word: str, opposite: str) -> bool:
        return word == opposite and (not word or len(word) > 2)

    for word, opposite in ((first, second), (second, first)):
        for a, b in opposites("exclude"):
            if word.startswith(a) and opposite.startswith(b) and is_stem(word[len(a) :], opposite[len(b) :]):
                return True
            if word.endswith(a) and opposite.endswith(b) and is_stem(word[: -len(a)], opposite[: -len(b)]):
                return True
        if len(word) >= 4 and any(opposite == prefix + word for prefix in PREFIXES):
            return True
    return False


def test_opposites_are_those_of_a_plain_loop() -> None:
    stems = [*sorted({word for pair in opposites("exclude") for word in pair})[::16], "hyper", "hypo", "gain", "loss"]
    words = {start + end for start, end in product([*stems, "un", ""], ["", "al", "tension", "happy"])}
    words |= {start + end for start, end in product(["a", "tension"], stems)}
    excluded = {pair for pair in product(words, words) if are_opposites(*pair)}
    assert excluded == {pair for pair in product(words, words) if plainly(*pair)}
    assert {("hypertension", "hypotension"), ("happy", "unhappy"), ("gain", "loss")} < excluded


def test_of_two_unknown_words_one_may_lack_an_inner_letter() -> None:
    word = "qwertzuiop"
    shorter = [word[:index] + word[index + 1 :] for index in range(len(word))]
    inside = [False, *[True] * 8, False]
    assert (
        [is_misspelling(word, shortened) for shortened in shorter]
        == inside
        == [is_misspelling(shortened, word) for shortened in shorter]
    )
    assert not is_misspelling(word, "qwertzop")


def test_two_letters_that_changed_places_are_a_slip_and_three_are_not() -> None:
    assert is_misspelling("qwertz", "qewrtz") and not is_misspelling("qwertz", "qwtezr")


@pytest.mark.parametrize(
    ("misspelled", "slips"), [("qwertzxx", True), ("qwertxxx", False), ("qwertzu", True), ("qwerzt", True)]
)
def test_a_known_word_and_an_unknown_one_differ_by_a_slip_in_four_letters(misspelled: str, slips: bool) -> None:
    known_word = "qwertzui" if len(misspelled) > 7 else "qwertzx" if len(misspelled) > 6 else "qwertz"
    assert (
        is_misspelling(known_word, misspelled, {known_word})
        is is_misspelling(misspelled, known_word, {known_word})
        is slips
    )
    if sorted(known_word) != sorted(misspelled):
        assert not is_misspelling(known_word, misspelled, {known_word, misspelled})


def test_plurals_of_common_words_are_known() -> None:
    assert is_misspelling("nauseas", "nauseqs") and not is_misspelling("nauseqs", "nauseqz")


def test_common_words_of_three_letters_are_not_known() -> None:
    assert is_misspelling("fever", "fevqr") and not is_misspelling("hot", "hqt")


def test_words_of_three_letters_have_one_slip() -> None:
    assert is_misspelling("qwe", "qwx", {"qwe"}) and not is_misspelling("qwe", "qxx", {"qwe"})
    assert not is_misspelling("qwertzu", "qwertxx", {"qwertzu"})
    assert not is_misspelling("qwertzui", "qwertxi", {"qwertzui"})


def test_words_look_alike_from_seven_of_ten_letters_and_four_letters_on() -> None:
    assert look_alike("abcdefghij", "abcdefgxyz") and not look_alike("abcdefghij", "abcdefwxyz")
    assert look_alike("abcd", "abcd") and not look_alike("abc", "abc") and not look_alike("abcd", "abc")
    assert not look_alike("12345", "12345a") and not look_alike("12345a", "12345")


def test_runs_of_more_than_a_hundred_letters_are_not_words() -> None:
    word = "qw" * 50
    assert look_alike(word, word) and is_misspelling(word, word)
    assert not look_alike(word + "e", word) and not is_misspelling(word + "e", word + "e")


def test_a_plural_is_the_same_word_even_where_both_are_known() -> None:
    known_set = {"hallucination", "hallucinations", "bruise", "bruises", "rash", "rashes", "rasher", "brush", "bruised"}
    for singular, plural in (("hallucination", "hallucinations"), ("bruise", "bruises"), ("rash", "rashes")):
        assert is_misspelling(singular, plural, known_set) and is_misspelling(plural, singular, known_set)
    assert not is_misspelling("rash", "rasher", known_set) and not is_misspelling("bruise", "bruised", known_set)
