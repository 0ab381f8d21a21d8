"""Two words side by side, against a plain loop over all opposites."""

from itertools import product

import pytest

from softirr.meaning.lexicon import opposites
from softirr.meaning.policy.text_parts import are_opposites, is_misspelling, look_alike

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
