"""Agreement on labels beside agreement on the texts that explain them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

import softirr
from softirr.cli.main import main
from softirr.errors import InputError
from softirr.report.labels_and_texts import association, labels_and_texts, labels_and_texts_of_items
from tests import Cli
from tests.cli.refusals import sentence

ROWS = [
    # item, labels and reasons of ann, ben and cleo
    ("1", ("spam", "spam", "spam"), ("link", "link", "link")),
    ("2", ("spam", "spam", "spam"), ("link", "sender", "tone")),
    ("3", ("spam", "spam", "spam"), ("link", "link", "tone")),
    ("4", ("spam", "ham", "spam"), ("tone", "tone", "tone")),
    ("5", ("spam", "ham", "ham"), ("link", "sender", "tone")),
    ("6", ("spam", "ham", "ham"), ("link", None, None)),
]
FIELDS = ["--field", "label=nominal", "--field", "reason=text", "--measure", "exact"]


def frame() -> pandas.DataFrame:
    rows = [
        (item, rater, label, text)
        for item, labels, texts in ROWS
        for rater, label, text in zip(("ann", "ben", "cleo"), labels, texts, strict=True)
    ]
    return pandas.DataFrame(rows, columns=["item", "rater", "label", "reason"])


@pytest.fixture
def csv(tmp_path: Path) -> str:
    frame().to_csv(tmp_path / "reasons.csv", index=False)
    return str(tmp_path / "reasons.csv")


def test_items_where_labels_agree_and_texts_do_not_and_the_reverse() -> None:
    labels = softirr.agreement(frame(), text="label", reading=softirr.ReadOptions(kind="nominal"))
    texts = softirr.agreement(frame(), "exact", text="reason")
    one = labels_and_texts(labels, texts)
    assert (one.both, one.only_labels, one.only_texts, one.neither) == (1, 2, 1, 1)
    assert one.only_labels_items == ("2", "3"), "the lowest agreement first"
    assert one.only_texts_items == ("4",)
    equal, different = np.array([1, 0, 1 / 3]), np.array([1.0, 0.0])
    assert one.where_equal == pytest.approx(equal.mean()) and one.where_different == pytest.approx(0.5)
    assert one.difference == pytest.approx(equal.mean() - 0.5)
    welch = CompareMeans(DescrStatsW(equal), DescrStatsW(different)).tconfint_diff(usevar="unequal")
    assert one.ci95 == pytest.approx(np.clip(welch, -1, 1)), "a difference of shares is at most 1"


def test_the_interval_is_that_of_welch() -> None:
    rng = np.random.default_rng(4)
    names = np.array(["a", "b", "c"])
    rows = [(str(i), who, *names[rng.integers(3, size=2)]) for i in range(80) for who in ("ann", "ben", "cleo")]
    given = pandas.DataFrame(rows, columns=["item", "rater", "label", "reason"])
    labels, texts = (
        softirr.agreement(given, text="label", reading=softirr.ReadOptions(kind="nominal")),
        softirr.agreement(given, text="reason"),
    )
    one = labels_and_texts(labels, texts)
    equal = np.array([item.agreement == 1 for item in labels.items])
    values = np.array([item.agreement for item in texts.items])
    welch = CompareMeans(DescrStatsW(values[equal]), DescrStatsW(values[~equal])).tconfint_diff(usevar="unequal")
    assert one.ci95 == pytest.approx(welch, abs=1e-12)
    assert one.both + one.only_labels == equal.sum() and one.only_texts + one.neither == (~equal).sum()


def test_without_spread_or_items_there_is_no_interval() -> None:
    rows = [("1", who, "x", "a") for who in ("ann", "ben")]
    given = pandas.DataFrame(rows, columns=["item", "rater", "label", "reason"])
    one = labels_and_texts(
        softirr.agreement(given, text="label", reading=softirr.ReadOptions(kind="nominal")),
        softirr.agreement(given, "exact", text="reason"),
    )
    assert (one.both, one.where_equal, one.where_different, one.difference, one.ci95) == (1, 1.0, None, None, None)


def test_other_fields_are_refused_in_one_sentence() -> None:
    labels = softirr.agreement(frame(), text="label", reading=softirr.ReadOptions(kind="nominal"))
    texts = softirr.agreement(frame(), "exact", text="reason")
    with pytest.raises(InputError, match=r"^Labels are categories, but the first report has text values\.$"):
        labels_and_texts(texts, labels)
    with pytest.raises(InputError, match=r"^The second report has nominal values, but texts are needed\.$"):
        labels_and_texts(labels, labels)


def test_the_command_prints_the_table_and_the_items(csv: str, cli: Cli) -> None:
    (one,) = cli("score", csv, *FIELDS, "--json")["labels_and_texts"]
    assert (one["label"], one["text"], one["only_labels"], one["only_texts_items"]) == ("label", "reason", 2, ["4"])
    lines = cli("score", csv, *FIELDS).splitlines()
    (row,) = (line.split() for line in lines if line.split()[:2] == ["label", "reason"])
    assert row[2:] == ["1", "2", "1", "1"]
    assert any(
        line.startswith("Mean agreement on reason: 0.44 where label is equal, 0.50 where it differs (difference -0.06")
        for line in lines
    )
    page = association("label", "reason", labels_and_texts_of_items({"1": 1, "2": 0}, {"1": 0.2, "2": 0.9}))
    assert page is not None and page.endswith("(difference −0.70).")
    assert "Equal label, different reason: 2, 3." in lines and "Different label, equivalent reason: 4." in lines


@pytest.mark.slow
def test_all_items_are_written(csv: str, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "results"
    cli("score", csv, *FIELDS, "--output", folder)
    table = pandas.read_csv(folder / "labels_and_texts.csv")
    assert list(table["item"]) == [1, 2, 3, 4, 5] and set(table["labels"]) == {"label"}
    assert list(table["labels_equal"]) == [True, True, True, False, False]
    assert list(table["texts_agree"]) == [True, False, False, True, False]
    assert table["texts_agreement"][2] == pytest.approx(1 / 3)
    (folder / "labels_and_texts.csv").unlink()
    (folder / "labels_and_texts.csv").mkdir()
    assert main(["score", csv, *FIELDS, "--output", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert "Krippendorff's alpha 0.18" in out, "what was computed is shown, though it can't be kept"
    assert "labels_and_texts.csv can't be written" in sentence(err)


def test_fields_without_labels_have_no_such_table(csv: str, cli: Cli) -> None:
    texts = ("--field", "label=text", "--field", "reason=text")
    assert "labels_and_texts" not in cli("score", csv, *texts, "--measure", "exact", "--json")
