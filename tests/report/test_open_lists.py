"""Coverage, overlap, novelty and divergence of raters with open lists, against the definitions and scipy."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import softirr
from softirr.cli.main import main
from softirr.report.open_lists import FIGURES, contributions
from tests import Cli

RATERS = ("ann", "ben", "model:one")


@settings(max_examples=80)
@given(st.lists(st.sets(st.sampled_from(RATERS), min_size=1), min_size=1, max_size=12))
def test_the_definitions(entries: list[set[str]]) -> None:
    for one in contributions(entries):
        own = np.array([one.rater in raters for raters in entries])
        weight = np.array([len(raters) for raters in entries])
        assert one.coverage == pytest.approx(weight[own].sum() / weight.sum(), abs=1e-12)
        others = weight - own
        if others.sum():
            assert one.overlap == pytest.approx(others[own].sum() / others.sum(), abs=1e-12)
        else:
            assert one.overlap is None
        novel = weight == 1
        assert one.novelty == (pytest.approx((novel & own).sum() / novel.sum()) if novel.any() else None)
        assert one.divergence == pytest.approx(jensenshannon(weight, weight * own, base=2), abs=1e-7)


def test_the_codebook_merges_texts_first() -> None:
    """ann and ben mean the same in other words; the model adds a finding of its own."""
    rows = [("1", "ann", "fever"), ("1", "ben", "fevers"), ("1", "model:one", ("fever", "itch"))]
    book = softirr.codebook(softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows), "indel")
    of = {one.rater: one for one in book.contributions}
    assert of["ann"].coverage == of["ben"].coverage == 0.75 and of["model:one"].coverage == 1
    assert (of["ann"].novelty, of["model:one"].novelty) == (0, 1) and of["model:one"].divergence == 0
    assert book.to_dict()["contributions"][2]["rater"] == "model:one"
    assert str(book).splitlines()[-1].split() == ["model:one", "2", "1.00", "1.00", "1.00", "0.00"], "one item"


@settings(max_examples=60)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(RATERS), st.sets(st.integers(0, 5), min_size=1, max_size=3), min_size=1),
        min_size=1,
        max_size=8,
    )
)
def test_intervals_are_a_jackknife_over_items(entries: list[dict[str, set[int]]]) -> None:
    """Each item is left out in full, which is what the sums are updated for."""
    items = sorted(set().union(*(used for entry in entries for used in entry.values())))
    result = contributions(entries)
    if len(items) < 2:
        assert all(one.ci95 == (None,) * 4 for one in result)
        return
    left = [contributions([{r for r, used in entry.items() if used - {item}} for entry in entries]) for item in items]
    for one in result:
        for name, ci95 in zip(FIGURES, one.ci95, strict=True):
            values = [getattr(rest, name) for row in left for rest in row if rest.rater == one.rater]
            if len(values) < len(items):  # without an item the rater has nothing
                continue
            if None in values:
                assert ci95 is None
                continue
            error = np.sqrt((len(items) - 1) * np.var(values))
            reach = scipy.stats.t.ppf(0.975, len(items) - 1) * error
            value = getattr(one, name)
            assert ci95 == pytest.approx((max(value - reach, 0), min(value + reach, 1)), abs=1e-7)


def test_intervals_contain_the_expected_figure() -> None:
    """Findings of unequal frequency; raters see 70, 50 and 30% of them. The jackknife errs on the safe side."""
    rng = np.random.default_rng(1)
    frequency = 1 / np.arange(1, 61)
    replicates = []
    for _ in range(150):
        entries: dict[int, dict[str, set[int]]] = {}
        for item in range(40):
            for finding in set(rng.choice(60, 3, p=frequency / frequency.sum()).tolist()):
                for rater, seen in zip(RATERS, (0.7, 0.5, 0.3), strict=True):
                    if rng.random() < seen:
                        entries.setdefault(finding, {}).setdefault(rater, set()).add(item)
        replicates.append(contributions(list(entries.values())))
    for at in range(len(RATERS)):
        for figure in (0, 1, 3):
            truth = np.mean([getattr(one[at], FIGURES[figure]) for one in replicates])
            assert sum(one[at].ci95[figure][0] <= truth <= one[at].ci95[figure][1] for one in replicates) >= 135


def test_the_command_shows_the_intervals(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("item,rater,text\n1,ann,fever\n1,=ben,fever\n2,ann,rash\n2,=ben,rash\n3,ann,itch\n3,=ben,fever\n")
    command = ["codebook", str(path), "--measure", "exact"]
    ben = cli(*command, "--json", "--contributions", str(tmp_path / "raters.csv"))["contributions"][0]
    assert (ben["rater"], ben["coverage"]) == ("=ben", 0.8) and ben["coverage_ci95"][0] < 0.8 < ben["coverage_ci95"][1]
    assert ben["novelty_ci95"] is None, "without the third item no entry is of one rater only"
    head, row, _ = csv.reader(io.StringIO((tmp_path / "raters.csv").read_text()))
    assert head[:5] == ["rater", "entries", "coverage", "coverage_low", "coverage_high"] and row[0] == "'=ben"
    assert [float(cell) for cell in row[2:5]] == [ben["coverage"], *ben["coverage_ci95"]] and row[9:11] == ["", ""]
    last = cli(*command).splitlines()[-2]
    assert "0.80 ({:.2f} to {:.2f})".format(*ben["coverage_ci95"]) in last
    assert main([*command, "--contributions", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert last in out and "can't be written" in err, "what was computed is shown, though it can't be kept"


def test_one_rater_has_no_others() -> None:
    (one,) = contributions([{"ann"}, {"ann"}])
    assert one.overlap is None and one.coverage == one.novelty == 1 and contributions([]) == ()
