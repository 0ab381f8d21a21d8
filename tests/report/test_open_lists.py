"""Coverage, overlap, novelty and divergence of raters with open lists, against the definitions and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import softirr
from softirr.report.open_lists import contributions

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
    assert str(book).splitlines()[-1].split() == ["model:one", "2", "1.00", "1.00", "1.00", "0.00"]


def test_one_rater_has_no_others() -> None:
    (one,) = contributions([{"ann"}, {"ann"}])
    assert one.overlap is None and one.coverage == one.novelty == 1 and contributions([]) == ()
