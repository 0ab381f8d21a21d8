"""Figures can be read: every word lies within the picture, labels do not run into each other, and a measure keeps its color."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from softirr.lab.experiments import figures
from softirr.lab.experiments.analysis import Results
from softirr.lab.experiments.measure_tables import negatives_table
from softirr.lab.experiments.store import RunStore
from softirr.lab.experiments.synthetic import NamedMeasure, Plan, run
from softirr.terminology import Terminology

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LONG = "a measure with quite a long label (emb.)"


@pytest.fixture(scope="module")
def results(terminology: Terminology, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """Two settings under three measures, one of which has a long label."""
    with RunStore(tmp_path_factory.mktemp("figures")) as store:
        named = [NamedMeasure.of(name) for name in ("exact", f"{LONG}=indel", "jaccard")]
        run(Plan(settings=("hard", "sets"), populations=2, size=30), [terminology], named, store)
        yield Results.of(store)


def _ticks(axis: Axis) -> list[Text]:
    """Labels of the ticks that are drawn."""
    low, high = sorted(axis.get_view_interval())
    drawn = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label for label in drawn if label.get_text() and label.get_visible()]


def _check(figure: Figure) -> None:
    figure.canvas.draw()
    words = [figure._suptitle] if figure._suptitle else []  # type: ignore[attr-defined]
    for axes in figure.axes:
        legend = axes.get_legend()
        words += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts, *(legend.get_texts() if legend else ())]
        for axis in (axes.xaxis, axes.yaxis):
            ticks = _ticks(axis)
            words += ticks
            for one, other in pairwise(label.get_window_extent() for label in ticks):
                assert not one.overlaps(other), [label.get_text() for label in ticks]
    for word in words:
        box = word.get_window_extent()
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.width + 1 and box.y1 <= figure.bbox.height + 1
        assert inside or not word.get_text(), word


@pytest.mark.parametrize("setting", ["hard", "sets"])
def test_every_word_can_be_read(results: Results, setting: str) -> None:
    _check(figures.violins(results, setting))
    _check(figures.heat_map(negatives_table(results, setting)))


def test_curves_can_be_read_and_a_measure_keeps_its_color(results: Results) -> None:
    for make in (figures.against_truth, figures.calibration):
        figure = make(results, results.settings)
        _check(figure)
        colors: dict[str, set[str]] = {}
        for axis in figure.axes:
            for line, text in zip(axis.get_legend().get_lines(), axis.get_legend().get_texts(), strict=True):
                colors.setdefault(text.get_text().partition(" (ECE")[0], set()).add(str(line.get_color()))
        assert set(colors) == {"exact", "jaccard", LONG}
        assert all(len(found) == 1 for found in colors.values())
        assert len(set().union(*colors.values())) == 3


@pytest.mark.parametrize("format", figures.FORMATS)
def test_the_same_figure_gives_the_same_bytes(results: Results, format: str, tmp_path: Path) -> None:
    table = negatives_table(results, "hard")
    first = figures.save(figures.heat_map(table), tmp_path, "one", format).read_bytes()
    assert figures.save(figures.heat_map(table), tmp_path, "two", format).read_bytes() == first
