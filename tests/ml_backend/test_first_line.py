"""The panel's first line: it names who differs and in what, and it is consistent with the panel and with decisions."""

from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import example
from ml_backend.review.first_line import verdict

NAMES = {"1": "Eva", "2": "Anna", "3": "Ben", "4": "Devon", "5": "Finn"}


def field(
    texts: dict[str, list[str]],
    *,
    rows: tuple[tuple[dict[str, str], float], ...] = (),
    unmatched: dict[str, list[str]] | None = None,
    reasons: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    """One field as the panel shows it."""
    return {
        "raters": [{"id": rater, "name": NAMES[rater], "n_texts": len(given)} for rater, given in texts.items()],
        "matches": [{"texts": row, "equivalence": value, "pairs": []} for row, value in rows],
        "unmatched": unmatched or {},
        "reasons": list(reasons),
        "decisions": [],
    }


def reason(kind: str, words: str, a: tuple[str, str], b: tuple[str, str], name: str = "") -> dict[str, Any]:
    return {
        "kind": kind,
        "name": name or kind,
        "words": words,
        "also": [],
        "raters": [a[0], b[0]],
        "texts": [a[1], b[1]],
        "equivalence": 0.2,
    }


SIDES = {"2": ["left knee pain"], "3": ["left knee pain"], "4": ["right knee pain", "rash"]}
BOTH_X = (({"2": "x", "3": "x"}, 1.0),)


class TestVerdict:
    def test_who_differs_in_what(self) -> None:
        given = field(
            SIDES,
            rows=(({"2": "left knee pain", "3": "left knee pain"}, 1.0),),
            unmatched={"4": ["right knee pain", "rash"]},
            reasons=(
                reason("side", "left against right", ("2", "left knee pain"), ("4", "right knee pain")),
                reason("side", "left against right", ("3", "left knee pain"), ("4", "right knee pain")),
                reason("one rater only", "only one of the two says rash", ("2", ""), ("4", "rash")),
            ),
        )
        assert verdict(given, 0.5) == "Devon differs: has “right” instead of “left”; alone has “rash”."
        unnamed = verdict(given, 0.5, naming=False)
        assert unnamed == "The answers differ: left against right; 1 text that only one annotator has."

    @pytest.mark.parametrize(
        "kind, words, expected",
        [
            ("severity", "no severity against “severe”", "adds “severe”"),
            ("severity", "severe against no severity", "lacks “severe” in “a”"),
            ("negation", "affirmed against no", "has “b” instead of “a”"),
            ("spelling", "rash against rsah", "has “rsah” instead of “rash” (spelling)"),
            ("list", "a against b", "has “b” instead of “a”"),
            ("more general", "“b” is more general than “a”", "has the more general “b” instead of “a”"),
        ],
    )
    def test_what_the_difference_is(self, kind: str, words: str, expected: str) -> None:
        given = field(
            {"2": ["a"], "3": ["a"], "4": ["b"]},
            rows=(({"2": "a", "3": "a"}, 1.0),),
            unmatched={"4": ["b"]},
            reasons=(reason(kind, words, ("2", "a"), ("4", "b")) | {"broader": 1},),
        )
        assert verdict(given, 0.5) == f"Devon differs: {expected}."

    def test_nobody_differs_from_themselves(self) -> None:
        """Anna has both texts, so only Eva’s “b” without Ben’s “a” is a difference between people."""
        given = field(
            {"1": ["b"], "2": ["a", "b"], "3": ["a"], "4": [], "5": []},
            rows=(({"2": "a", "3": "a"}, 1.0), ({"1": "b", "2": "b"}, 1.0)),
            reasons=(reason("side", "left against right", ("3", "a"), ("1", "b")),),
        )
        assert verdict(given, 0.5).startswith("Eva, Ben, Devon and Finn differ: Ben has “left” where Eva has “right”;")
        given = field(
            {"2": ["a", "b"], "3": ["a"]},
            rows=(({"2": "a", "3": "a"}, 1.0),),
            unmatched={"2": ["b"]},
            reasons=(reason("side", "left against right", ("3", "a"), ("2", "b")),),
        )
        assert verdict(given, 0.5) == "Anna differs: alone has “b”."

    def test_two_annotators_differ_from_each_other(self) -> None:
        given = field(
            {"2": ["a"], "3": ["b"]},
            unmatched={"2": ["a"], "3": ["b"]},
            reasons=(reason("side", "left against no side", ("2", "a"), ("3", "b")),),
        )
        assert verdict(given, 0.5) == "Anna and Ben differ: Anna adds “left” to Ben’s “b”."
        given["reasons"] = [reason("side", "left against right", ("2", "a"), ("3", "b"))]
        assert verdict(given, 0.5) == "Anna and Ben differ: Anna has “left” where Ben has “right”."
        given["reasons"] = [reason("unrelated", "a against b", ("2", "a"), ("3", "b"))]
        assert verdict(given, 0.5) == "Anna and Ben differ: Anna alone has “a”; Ben alone has “b”."

    def test_everybody_who_differs_is_named(self) -> None:
        given = field(
            {"2": ["a", "x"], "3": ["b", "x"], "4": ["c", "d"]},
            rows=BOTH_X,
            unmatched={"2": ["a"], "3": ["b"], "4": ["c", "d"]},
        )
        assert verdict(given, 0.5) == (
            "All 3 annotators differ: Anna alone has “a”; Ben alone has “b”; Devon alone has “c” and “d”; Devon lacks “x”."
        )

    def test_what_one_lacks_and_an_empty_answer(self) -> None:
        given = field({"2": ["x"], "3": ["x"], "4": ["y"]}, rows=BOTH_X, unmatched={"4": ["y"]})
        assert verdict(given, 0.5) == "Devon differs: alone has “y”; lacks “x”."
        assert verdict(field({"2": ["x"], "3": ["x"], "4": []}, rows=BOTH_X), 0.5) == "Devon differs: wrote nothing."

    def test_agreement_is_reported_too(self) -> None:
        texts = {"2": ["x"], "3": ["y"], "4": ["x"]}
        same = field(texts, rows=(({"2": "x", "3": "y", "4": "x"}, 0.9),))
        assert verdict(same, 0.5) == "All 3 annotators say the same."
        assert verdict(field({"2": [], "3": []}), 0.5) == "Anna and Ben found nothing to write."
        assert verdict(field({"2": ["x"]}), 0.5) == ""

    def test_a_low_pair_in_a_row_is_a_difference(self) -> None:
        given = field({"2": ["a"], "3": ["b"], "4": ["c"]}, rows=(({"2": "a", "3": "b", "4": "c"}, 0.6),))
        values = zip((("2", "3"), ("2", "4"), ("3", "4")), (0.9, 0.45, 0.3), strict=True)
        given["matches"][0]["pairs"] = [{"raters": list(two), "equivalence": value} for two, value in values]
        assert verdict(given, 0.5) == "Devon differs: alone has “c”; lacks “a”."

    def test_a_low_pair_between_texts_that_a_third_one_connects_is_a_difference(self) -> None:
        """The panel marks the pair, so the line does not say that all say the same."""
        texts = {"2": "non-productive cough", "3": "dry cough", "4": "coughing"}
        given = field({rater: [text] for rater, text in texts.items()}, rows=((texts, 0.6),))
        values = zip((("2", "3"), ("2", "4"), ("3", "4")), (0.98, 0.14, 0.72), strict=True)
        given["matches"][0]["pairs"] = [{"raters": list(two), "equivalence": value} for two, value in values]
        expected = "Anna and Devon differ: Anna has “non-productive cough” where Devon has “coughing”."
        assert verdict(given, 0.5) == expected
        assert (
            verdict(given, 0.5, naming=False) == "The answers differ: 1 pair of texts in one row that does not match."
        )

    def test_it_is_consistent_with_decisions(self) -> None:
        """Also before the task is scored again."""
        given = field(
            {"2": ["a"], "3": ["b"]},
            unmatched={"2": ["a"], "3": ["b"]},
            reasons=(reason("side", "left against right", ("2", "a"), ("3", "b")),),
        )
        given["decisions"] = [{"texts": ["a", "b"], "verdict": "same"}]
        assert verdict(given, 0.5) == "Anna and Ben say the same."
        row = field({"2": ["a"], "3": ["b"]}, rows=(({"2": "a", "3": "b"}, 0.9),))
        row["matches"][0]["pairs"] = [
            {"raters": ["2", "3"], "equivalence": 0.9, "decision": {"texts": ["a", "b"], "verdict": "different"}}
        ]
        assert verdict(row, 0.5) == "Anna and Ben differ: Anna alone has “a”; Ben alone has “b”."

    def test_many_differences_are_counted(self) -> None:
        texts = [f"text {n}" for n in range(9)]
        given = field({"2": texts, "3": ["x"], "4": ["x"]}, rows=(({"3": "x", "4": "x"}, 1.0),), unmatched={"2": texts})
        assert verdict(given, 0.5) == "Anna differs: alone has “text 0”, “text 1” and 7 more; lacks “x”."

    def test_words_of_another_direction_do_not_turn_the_sentence(self) -> None:
        given = field({"2": ["\u202eevil"], "3": ["b\u2069{x}"]}, unmatched={"2": ["\u202eevil"], "3": ["b\u2069{x}"]})
        given["raters"][0]["name"] = "ليلى"
        sentence = verdict(given, 0.5)
        assert sentence.startswith("\u2068ليلى\u2069 and Ben differ")
        assert "“\u2068\u202eevil\u2069”" in sentence
        assert "“\u2068b{x}\u2069”" in sentence, "an end of an isolate in a text ends nothing else"
        given["reasons"] = [reason("time", "{a} against {b}", ("2", "\u202eevil"), ("3", "b\u2069{x}"))]
        assert "“{a}” where Ben has “{b}”" in verdict(given, 0.5)
        assert verdict(given, 0.5, naming=False) == "The answers differ: {a} against {b}."


def test_the_tutorials_first_task_shows_what_the_tutorial_says(root: Path) -> None:
    """The task with the lowest agreement, whatever the measure: one annotator wrote a text, the other nothing."""
    narrative = example.narratives()[61]
    given = {name: texts for name, texts in narrative.answers.items() if texts is not None}
    raters = [{"id": name, "name": name, "n_texts": len(texts)} for name, texts in given.items()]
    unmatched = {name: list(texts) for name, texts in given.items() if texts}
    line = verdict({"raters": raters, "matches": [], "unmatched": unmatched, "decisions": []}, 0.5)
    text = " ".join((root / "docs" / "tutorial.md").read_text(encoding="utf-8").split())
    assert f'"{line}"' in text
