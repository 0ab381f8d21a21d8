"""One table of words is read by every module that knows words: a line that is added to it is seen by all of them."""

from __future__ import annotations

from collections import Counter

import pytest

from softirr.meaning.lexicon import any_of, entries, opposites, rows, wordings
from tests.programs import run_python

USERS = """
import softirr.meaning.lexicon as words
original = words.rows
new = {
    "attributes": [
        ["side", "laterality", "left", "short", "LEFT"],
        ["side", "laterality", "right", "short", "RIGHT"],
    ]
}
words.rows = lambda name, *package: original(name, *package) + (new.get(name, []) if ADDED else [])

from random import Random
from lab.train.words import shortened
from lab.train.modifiers import modifiers
from lab.train.perturb import opposite
from softirr.meaning.policy.attribute_values import value
from softirr.meaning.policy.attributes import attributes, without
from softirr.meaning.policy.reasons import are_opposites

assert attributes("LEFT kidney pain").of("side") == ("LEFT",)
assert without("kidney pain RIGHT", {"side"}) == "kidney pain"
assert value("LEFT kidney", "side") == value("left kidney", "side")
assert value("RIGHT kidney", "side") != value("LEFT kidney", "side")
assert are_opposites("LEFT".rstrip("."), "RIGHT".rstrip("."))
assert "LEFT" in shortened()["left"] and "RIGHT" in shortened()["right"]
assert any("RIGHT {}" in group for kind in modifiers() for group in kind.groups)
assert "RIGHT" in {opposite(Random(k), "LEFT") for k in range(20)}
"""


@pytest.mark.parametrize(
    ("first_text", "second_text", "added", "status"),
    [("sin.", "dext.", False, 0), ("sx.", "dxt.", True, 0), ("sx.", "dxt.", False, 1)],
)
def test_all_users_see_a_line_of_the_table(first_text: str, second_text: str, added: bool, status: int) -> None:
    program = USERS.replace("ADDED", str(added)).replace("LEFT", first_text).replace("RIGHT", second_text)
    run_python(program, status=status)


def test_the_tables_are_whole() -> None:
    widths = {
        "attributes": 5,
        "opposites": 3,
        "units": 7,
        "numbers": 3,
        "languages": 3,
        "word_lists": 2,
        "spelling_variants": 2,
    }
    for name, width in widths.items():
        lines = rows(name)
        assert all(len(line) == width for line in lines), name
        assert len({tuple(line) for line in lines}) == len(lines), name
    words = Counter(
        (entry.kind, word, kind) for entry in entries() for word in entry.wordings for kind in entry.classes
    )
    assert [key for key, n in words.items() if n > 1] == []
    assert all(entry.value or not entry.dimension for entry in entries())
    assert {("hyper", "hypo"), ("left", "right")} <= set(opposites("exclude"))


def test_spaces_and_hyphens_are_interchangeable() -> None:
    import re

    pattern = re.compile(any_of(wordings("time", "course")))
    assert pattern.fullmatch("long standing") and pattern.fullmatch("long-standing")
    assert wordings("side", "short", value="left") == ("lt", "lt.", "sin.")
