"""The benchmark of a project counts each pair of its texts at most once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench.project import project_texts, softirr_project
from softirr.inference.models import bundled_model


@pytest.mark.slow
def test_no_more_pairs_than_the_project_has() -> None:
    project = project_texts(6)
    n_texts = len({text for texts in project for text in texts})
    estimate = softirr_project(project, Path(bundled_model().folder), precision="float32")()
    assert 0 < estimate.n_pairs <= n_texts * (n_texts - 1)
