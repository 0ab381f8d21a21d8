"""Texts are made from parts of known kinds, and are cut into these parts again."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softirr.meaning.policy.attribute_values import value
from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.lists import Splitting, lines_of
from softirr.meaning.policy.splitting import choose_splitting

SETTINGS = settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
FINDINGS = ("fever", "cough", "headache", "rash", "nausea", "vomiting")
UNKNOWN = ("tremor", "hives", "chills", "itching")


@SETTINGS
@given(
    headings=st.integers(0, 3),
    items=st.lists(st.lists(st.sampled_from(FINDINGS), min_size=1, max_size=3), min_size=1, max_size=4),
    bullet=st.sampled_from(["- ", "* ", "• ", "2) ", "(3) ", "- * "]),
    bullets=st.booleans(),
)
def test_lines_without_a_bullet_continue_an_item_where_one_of_the_first_two_lines_has_a_bullet(
    headings: int, items: list[list[str]], bullet: str, bullets: bool
) -> None:
    first = [f"heading {number}" for number in range(headings)]
    text = "\n".join([*first, *(bullet + "\n".join(item) for item in items)])
    if bullets and headings < 2:
        expected = [*first, *(" ".join(item) for item in items)]
    else:
        expected = [*first, *(line for item in items for line in item)]
    assert list(lines_of(text, bullets=bullets)) == expected


@SETTINGS
@given(
    lengths=st.lists(st.integers(5, 12), min_size=1, max_size=4),
    ends=st.lists(st.sampled_from(["", ",", ".", "!", "?", ";", ":"]), min_size=4, max_size=4),
    small=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_line_of_more_than_eight_words_without_an_end_goes_on_in_a_small_letter(
    lengths: list[int], ends: list[str], small: list[bool]
) -> None:
    """A line that goes on in the next one lends it its words."""
    lines = [
        " ".join(["so" if low else "So"] + ["on"] * (length - 1)) + end
        for length, end, low in zip(lengths, ends, small, strict=False)
    ]
    expected: list[str] = []
    for line, low in zip(lines, small, strict=False):
        if expected and low and len(expected[-1].split()) > 8 and expected[-1][-1] in "n,":
            expected[-1] += f" {line}"
        else:
            expected.append(line)
    assert list(lines_of("\n".join(lines), bullets=False)) == expected


PIECES = {
    "finding": FINDINGS,
    "attribute": ("severe", "left", "for 3 days", "worse at night", "due to stress"),
    "clause": ("which began on Monday", "that itches"),
    "last finding": ("and fever", "plus cough", "& rash", "as well as nausea"),
    "last attribute": ("and severe",),
}
PIECE = st.one_of(*(st.tuples(st.just(kind), st.sampled_from(texts)) for kind, texts in PIECES.items()))


@SETTINGS
@given(st.tuples(st.sampled_from(["finding", "attribute"]), st.lists(PIECE, max_size=5)))
def test_at_commas_attributes_and_clauses_stay_with_the_finding_before_them(
    drawn: tuple[str, list[tuple[str, str]]],
) -> None:
    pieces = [(drawn[0], PIECES[drawn[0]][0]), *drawn[1]]
    expected: list[str] = []
    waits = False  # for the finding of an attribute
    for kind, text in pieces:
        own = text.removeprefix("and ").removeprefix("plus ").removeprefix("& ").removeprefix("as well as ")
        if expected and (waits or kind in ("attribute", "clause")):
            expected[-1] += f", {text}"
            waits &= "attribute" in kind
        else:
            expected.append(own)
            waits = "attribute" in kind
    assert Splitting("commas", ("commas",)).parts(", ".join(text for _, text in pieces)) == tuple(expected)


@SETTINGS
@given(
    words=st.lists(st.sampled_from([*FINDINGS, *UNKNOWN, "severe fever", "odd tremor"]), min_size=1, max_size=4),
    joiners=st.lists(st.sampled_from([" and ", " / ", " & "]), min_size=3, max_size=3),
    before=st.sampled_from(["", "pain, "]),
)
def test_joined_words_are_cut_where_both_sides_stand_alone_or_where_they_end_a_list(
    words: list[str], joiners: list[str], before: str
) -> None:
    """Every way to cut the text, the one with the earliest first cut."""
    splitting = Splitting("commas", ("commas", "and"), frozenset(FINDINGS))

    def alone(text: str) -> bool:
        return text.removeprefix("severe ") in FINDINGS

    def joined(start: int, stop: int) -> str:
        return words[start] + "".join(joiners[k] + words[k + 1] for k in range(start, stop - 1))

    def cuts(start: int) -> list[str] | None:
        """The parts from a word on, or None where the rest stays whole."""
        for stop in range(start + 1, len(words)):
            piece, rest = joined(start, stop), cuts(stop)
            single = before and stop == len(words) - 1 and joiners[stop - 1] != " / "
            if single and " " not in piece and " " not in words[-1]:
                return [piece, words[-1]]
            if alone(piece) and (rest is not None or alone(joined(stop, len(words)))):
                return [piece, *(rest or [joined(stop, len(words))])]
        return None

    parts = cuts(0) or [joined(0, len(words))]
    assert splitting.parts(before + joined(0, len(words))) == (*(["pain"] if before else []), *parts)


@SETTINGS
@given(
    mark=st.sampled_from(["semicolons", "sentences"]),
    lists=st.integers(0, 4),
    others=st.integers(0, 4),
    long=st.booleans(),
)
def test_auto_splits_at_a_mark_where_more_than_half_of_the_texts_that_have_it_are_lists(
    mark: str, lists: int, others: int, long: bool
) -> None:
    """Parts of a list have eight words at most; texts that are split into sentences have twenty words or more."""
    if mark == "sentences":
        several, whole = "Rash" + " word" * 9 + ". Cough" + " word" * (8 + long) + ".", "Rash" + " word" * (18 + long)
        expected = long and lists > others
    else:
        several, whole = (f"fever; cough{' word' * length}; rash" for length in (7, 8))
        expected = lists > others
    texts = [text.replace("ash", f"ash{k}") for k, text in enumerate([several] * lists + [whole] * others)]
    assert (mark in choose_splitting(texts).marks) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_without_an_attribute_says_nothing_of_it(kind: str) -> None:
    assert value("dizziness", kind) == frozenset()
