"""Two words side by side, against a plain loop over all opposites."""

from itertools import product

from softirr.lexicon.words import opposites
from softirr.policy.word_pairs import are_opposites

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
