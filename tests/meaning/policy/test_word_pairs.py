"""Two words side by side, against a plain loop over all opposites."""

from itertools import product

import pytest

from softirr.meaning.lexicon.words import opposites
from softirr.meaning.policy.word_pairs import are_opposites, is_misspelling, look_alike

PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "ab", "non-")


def plainly(first: str, second: str) -> bool:
    def is_stem(one: str, other: str) -> bool:
        return one == other and (not one or len(one) > 2)

    for one, other in ((first, second), (second, first)):
        for a, b in opposites("exclude"):
            if one.startswith(a) and other.startswith(b) and is_stem(one[len(a) :], other[len(b) :]):
                return True
            if one.endswith(a) and other.endswith(b) and is_stem(one[: -len(a)], other[: -len(b)]):
                return True
        if len(one) >= 4 and any(other == prefix + one for prefix in PREFIXES):
            return True
    return False


def test_opposites_are_those_of_a_plain_loop() -> None:
    parts = [*sorted({word for pair in opposites("exclude") for word in pair})[::16], "hyper", "hypo", "gain", "loss"]
    words = {start + end for start, end in product([*parts, "un", ""], ["", "al", "tension", "happy"])}
    words |= {start + end for start, end in product(["a", "tension"], parts)}
    excluded = {pair for pair in product(words, words) if are_opposites(*pair)}
    assert excluded == {pair for pair in product(words, words) if plainly(*pair)}
    assert {("hypertension", "hypotension"), ("happy", "unhappy"), ("gain", "loss")} < excluded


def test_of_two_unknown_words_one_may_lack_an_inner_letter() -> None:
    word = "qwertzuiop"
    shorter = [word[:index] + word[index + 1 :] for index in range(len(word))]
    inside = [False, *[True] * 8, False]
    assert [is_misspelling(word, one) for one in shorter] == inside == [is_misspelling(one, word) for one in shorter]
    assert not is_misspelling(word, "qwertzop")


def test_two_letters_that_changed_places_are_a_slip_and_three_are_not() -> None:
    assert is_misspelling("qwertz", "qewrtz") and not is_misspelling("qwertz", "qwtezr")


@pytest.mark.parametrize(
    ("written", "slips"), [("qwertzxx", True), ("qwertxxx", False), ("qwertzu", True), ("qwerzt", True)]
)
def test_a_known_word_and_an_unknown_one_differ_by_a_slip_in_four_letters(written: str, slips: bool) -> None:
    known = "qwertzui" if len(written) > 7 else "qwertzx" if len(written) > 6 else "qwertz"
    assert is_misspelling(known, written, {known}) is is_misspelling(written, known, {known}) is slips
    if sorted(known) != sorted(written):
        assert not is_misspelling(known, written, {known, written})


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


def test_runs_of_more_than_a_hundred_letters_are_no_words() -> None:
    word = "qw" * 50
    assert look_alike(word, word) and is_misspelling(word, word)
    assert not look_alike(word + "e", word) and not is_misspelling(word + "e", word + "e")


def test_a_plural_is_the_same_word_even_where_both_are_known() -> None:
    known = {"hallucination", "hallucinations", "bruise", "bruises", "rash", "rashes", "rasher", "brush", "bruised"}
    for one, several in (("hallucination", "hallucinations"), ("bruise", "bruises"), ("rash", "rashes")):
        assert is_misspelling(one, several, known) and is_misspelling(several, one, known)
    assert not is_misspelling("rash", "rasher", known) and not is_misspelling("bruise", "bruised", known)
