"""The codebook: names, counts, raters, what is compared, and the TSV as a terminology."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.cli.main import main
from softirr.errors import InputError
from softirr.meaning.terminology.load import load
from softirr.report.codebook import Comparisons, compare_texts
from tests import Cli
from tests.meaning.measures.function_measures import FunctionMeasure

ROWS = [
    *[("1", "ann", "fever"), ("1", "bob", "fevers"), ("1", "eve", "fever")],
    *[("2", "ann", "dry cough"), ("2", "bob", "cough, dry")],
    *[("3", "ann", "fevers"), ("3", "bob", "rash")],
    *[("4", "eve", "dry coughs"), ("4", "eve", "=1+1"), ("5", "ann", 'said "hot"')],
]


def table_of(rows: Sequence[tuple[str, str, str]] = ROWS) -> softirr.AnnotationTable:
    sets: dict[tuple[str, str], list[str]] = {}
    for item, rater, text in rows:
        sets.setdefault((item, rater), []).append(text)
    return softirr.AnnotationTable.from_answers(softirr.Answer(*key, tuple(texts)) for key, texts in sets.items())


def names(book: softirr.Codebook) -> list[list[str]]:
    return [[wording.text for wording in entry.wordings] for entry in book.entries]


def first_letters() -> FunctionMeasure:
    return FunctionMeasure(lambda a, b: float(a[0] == b[0]))


def test_entries_have_names_counts_and_raters() -> None:
    book = softirr.codebook(table_of(), "indel", threshold=0.75)
    assert names(book)[0] == ["fever", "fevers"]  # as frequent as each other: the shorter one
    fever = book.entries[0]
    assert (fever.name, fever.count, fever.raters) == ("fever", 4, {"ann": 2, "eve": 1, "bob": 1})
    assert [(one.text, one.count, one.items, one.raters) for one in fever.wordings] == [
        ("fever", 2, 1, {"ann": 1, "eve": 1}),
        ("fevers", 2, 2, {"bob": 1, "ann": 1}),
    ]
    assert sum(entry.count for entry in book.entries) == 10
    assert json.loads(json.dumps(book.to_dict()))["entries"][0]["name"] == "fever"
    assert "fever" in str(book) and "3 raters" in str(book)


def test_decisions_merge_and_part() -> None:
    decided = {("rash", "fever"): True, ("fevers", "fever"): False}
    book = softirr.codebook(table_of(), "indel", threshold=0.75, decided=decided)
    groups = {tuple(sorted(group)) for group in names(book)}
    assert ("fever", "rash") in groups and ("fevers",) in groups


def test_only_candidate_pairs_are_asked_for() -> None:
    words = [f"{chr(97 + i % 26)}{i * 7919:08d}" for i in range(400)]
    rows = [(str(i), "ann", word) for i, word in enumerate(words)] + [("0", "bob", "zzz")]
    measure = first_letters()
    book = softirr.codebook(table_of(rows), measure, neighbors=2, cache=None, progress=None)
    assert len(measure.asked) == book.pairs_compared < 401 * 2 + 26 * 16 * 8
    assert book.pairs_possible == 401 * 400 // 2
    none = softirr.codebook(table_of(rows), first_letters(), neighbors=0, cache=None, progress=None)
    assert none.pairs_compared == 1, "only the texts of one item"


def test_what_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softirr.report.codebook_pairs.MOST_ALIKE", 3)
    book = softirr.codebook(table_of(), "indel")
    assert any("3 most frequent of 8 texts" in note for note in book.notes)
    monkeypatch.setattr("softirr.report.codebook_pairs.MOST_BETWEEN", 0)
    chain = [("1", "ann", "aaaa"), ("1", "bob", "aaab"), ("2", "ann", "aaab"), ("2", "bob", "aabb")]
    assert any("1 pair of texts" in note for note in softirr.codebook(table_of(chain), "indel", neighbors=0).notes)


def test_it_is_made_again_from_what_was_kept() -> None:
    compared = compare_texts(table_of(), "indel")
    again = Comparisons.from_dict(json.loads(json.dumps(compared.to_dict())))
    assert again.codebook(threshold=0.75).to_dict() == compared.codebook(threshold=0.75).to_dict()


@pytest.mark.parametrize("change", [{"threshold": 0}, {"threshold": 2}, {"neighbors": -1}])
def test_unusable_options_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        softirr.codebook(table_of(), "indel", **change)


def test_no_answers() -> None:
    book = softirr.codebook(table_of([]), "indel")
    assert book.entries == () and book.pairs_possible == 0


class TestTsv:
    def test_round_trip_through_a_terminology(self, tmp_path: Path, cli: Cli) -> None:
        """What is one entry is the same to ``--terminology``, and what is not differs."""
        answers = tmp_path / "answers.csv"
        quoted = [(item, rater, text.replace('"', '""')) for item, rater, text in ROWS]
        answers.write_text("item,rater,text\n" + "".join(f'{item},{rater},"{text}"\n' for item, rater, text in quoted))
        target = tmp_path / "book.tsv"
        asked = ["codebook", str(answers), "--measure", "indel", "--threshold", "0.75", "--output", str(target)]
        book = cli(*asked, "--json")
        index = load(str(target))
        entries = {entry["id"]: {one["text"] for one in entry["wordings"]} for entry in book["entries"]}
        assert {id: set(names) for id, names in zip(index.ids, index.names, strict=True)} == entries
        assert {"=1+1", 'said "hot"'} <= {text for texts in entries.values() for text in texts}
        scored = ["score", str(answers), "--measure", "exact", "--terminology", str(target), "--json"]
        report = cli(*scored)
        assert report["codes"]["coverage_of_texts"] == 1.0
        (first,) = [item for item in report["items"] if item["id"] == "1"]
        assert first["agreement"] == 1.0, "fever and fevers are one entry"
        (third,) = [item for item in report["items"] if item["id"] == "3"]
        assert third["agreement"] == 0.0

    def test_a_table_without_these_columns_is_not_taken_for_one(self, tmp_path: Path) -> None:
        (tmp_path / "other.tsv").write_text("a\tb\n1\t2\n")
        with pytest.raises(InputError):
            load(str(tmp_path / "other.tsv"))

    def test_a_concept_with_two_names_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "two.tsv").write_text("id\tname\tsynonym\n1\ta\ta\n1\tb\tb\n")
        with pytest.raises(InputError, match="line 3"):
            load(str(tmp_path / "two.tsv"))


@pytest.mark.slow
def test_a_codebook_of_german_texts_is_no_terminology(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ("Fieber und Husten", "Schmerzen im linken Knie", "kein Fieber", "Kopfschmerzen seit gestern", "Übelkeit")
    rows = [f"{n},{who},{texts[(n + shift) % 5]}" for n in range(5) for shift, who in enumerate(("ann", "bob"))]
    (tmp_path / "a.csv").write_text("\n".join(["item,rater,text", *rows]))
    path, german = tmp_path / "a.csv", "Warning: The texts look like German"
    assert main(["codebook", str(path), "--measure", "nli", "--output", str(tmp_path / "b.tsv")]) == 2
    out, err = capsys.readouterr()
    assert out.startswith(german) and "not a terminology yet" in err and not (tmp_path / "b.tsv").exists()
    assert german in cli("compare", path, path, "--measure", "nli")
    cli("score", path, "--measure", "nli", "--output", tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    assert "this value does not show whether raters agree beyond chance" in page and "Landis and Koch" not in page


def test_an_entry_is_named_by_its_clearest_text() -> None:
    texts = ("wt gain", "wt gain", "wt. gain", "weight gain")
    rows = [(str(n), who, text) for n, text in enumerate(texts) for who in ("ann", "bob")]
    same = {(a, b): True for a in texts for b in texts if a < b}
    (entry,) = softirr.codebook(table_of(rows), "indel", decided=same).entries
    assert [one.text for one in entry.wordings] == ["weight gain", "wt gain", "wt. gain"]
