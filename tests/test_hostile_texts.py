"""No text slows a reader: time grows with its length, and every text gives an answer or a sentence.

tests/hostile_texts.py lists the functions that read texts of annotators; a new one belongs there.
"""

from __future__ import annotations

import gc
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.answers.splitting import split_text
from softirr.errors import InputError
from softirr.text import normalize, protected
from tests.hostile_texts import (
    LONG,
    READERS,
    REPEATED,
    hostile,
)

SECONDS = 1.0
"""Processor time that no text may exceed, multiplied by `slowness`."""
REFERENCE = 0.02
"""Processor time of the loop in `slowness` on an idle machine."""
LENGTHS = (1_900, 9_900, 100_000)
"""Just below the maximum lengths of a finding and of a list, and the maximum of a text that a project scores."""
SLACK = 4.0
"""Maximum cost of a character of a longer text, relative to a character of a shorter text.

Clocks on a busy machine are noisy.
"""
ALL = [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [], id=name) for name in READERS]


def seconds(read: Callable[[str], Any], text: str) -> float:
    """Processor time of a reader; a refusal in one sentence is an answer.

    A collection of garbage would add the time of all objects that earlier tests left.
    """
    refusal = "none"
    gc.disable()
    start = time.process_time()
    try:
        read(text)
    except InputError as error:
        refusal = str(error)
    finally:
        taken = time.process_time() - start
        gc.enable()
    assert 0 < len(refusal) < 1_000, "a refusal does not repeat the text"
    return taken


def slowness() -> float:
    """Time of a fixed loop now, relative to an idle machine: processes that share a core slow each other down."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        sum(k * k for k in range(400_000))
        taken.append(time.process_time() - start)
    return max(1.0, min(taken) / REFERENCE)


def is_slow(taken: float) -> bool:
    """Whether a reader took too long, on this machine now."""
    return taken > SECONDS and taken > SECONDS * slowness()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_no_text_stops_a_reader(name: str) -> None:
    """Neither for a second, nor for a time that grows faster than its length."""
    read = READERS[name]
    for unit in REPEATED:  # everything that is compiled or loaded once
        seconds(read, hostile(unit, 20))

    def best(unit: str, length: int, enough: float) -> float:
        taken = seconds(read, hostile(unit, length))
        repetitions = range(2 if taken > enough else 0)  # a busy machine: the best of three
        return min([taken, *(seconds(read, f"{k}{hostile(unit, length)}") for k in repetitions)])

    def is_steep(unit: str) -> bool:
        """Whether the longer text takes too long for its length in each of ten rounds.

        Each round measures both, one after the other: other programs that slow a core down slow both. A reader with a
        time that grows with the square is above the limit in every round.
        """
        shorts, longs = [], []
        for k in range(10):
            shorts.append(seconds(read, f"{k}{hostile(unit, first)}"))
            longs.append(seconds(read, f"{k}{hostile(unit, second)}"))
            if min(longs) <= SLACK * second / first * min(shorts):
                return False
        return True

    slow, steep, long = {}, {}, {}
    first, second, longest = LENGTHS
    for unit in REPEATED:
        short, long[unit] = seconds(read, hostile(unit, first)), best(unit, second, SECONDS / 2)
        limit_seconds = SLACK * second / first * max(short, 0.002)
        if long[unit] > max(limit_seconds, 0.05) and is_steep(unit):
            steep[unit] = round(short, 4), round(long[unit], 4)
        if is_slow(max(short, long[unit])):
            slow[unit, second] = round(long[unit], 1)
    # the longest texts of the units that take most, and of some others, different ones for each reader
    slowest = sorted(REPEATED, key=lambda unit: -long[unit])[:5]
    for unit in {*slowest, *REPEATED[list(READERS).index(name) % 12 :: 12]}:
        taken = best(unit, longest, SECONDS / 2)
        if is_slow(taken):
            slow[unit, longest] = round(taken, 1)
    assert not slow and not steep


PIECES = st.lists(
    st.tuples(st.sampled_from(REPEATED) | st.text(max_size=4), st.sampled_from([1, 2, 7, 60, 500])), max_size=8
)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@settings(max_examples=8, deadline=None)
@given(pieces=PIECES)
def test_generated_texts_are_read(name: str, pieces: list[tuple[str, int]]) -> None:
    text = "".join(unit * times for unit, times in pieces)
    taken = seconds(READERS[name], text)
    assert taken < 2 * SECONDS or taken < 2 * SECONDS * slowness()


def test_marks_in_any_number_have_the_normal_form_of_unicode() -> None:
    marks = "\u0315\u0300\u0323\u0344\u0f71\u0345"
    for times in (1, 5, 40):
        text = f"a{marks * times}e{marks}"
        assert normalize(text) == unicodedata.normalize("NFC", text)
        assert normalize(normalize(text)) == normalize(text)
    swapped = "a" + "\u0300\u0323" * 100
    assert normalize(swapped) == normalize("a" + "\u0323\u0300" * 100), "marks of different classes have no order"


@pytest.mark.parametrize("joiner", [", ", "; ", "\n", "\n- "])
def test_a_thousand_parts_are_parts(joiner: str) -> None:
    words = [f"f{k:x}x" for k in range(1_000)]
    text = joiner.join(words)
    split_parts = split_text(text, "commas")
    assert len(split_parts) == 1_000
    assert split_parts[0].endswith("f0x") and split_parts[-1] == "f3e7x"


@given(st.text(alphabet='ab([{)]}"“”«» ', max_size=60))
def test_text_inside_brackets_is_recognized(text: str) -> None:
    inside: set[int] = set()
    closing = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}
    opened: list[tuple[str, int]] = []
    for index, mark in enumerate(text):
        if mark in closing:
            opened.append((closing[mark], index))
        elif opened and mark == opened[-1][0]:
            inside |= set(range(opened.pop()[1], index + 1))
    quotes = [index for index, mark in enumerate(text) if mark == '"']
    for start, stop in zip(quotes[::2], quotes[1::2], strict=False):
        inside |= set(range(start, stop + 1))
    assert protected(text) == [index in inside for index in range(len(text))]
