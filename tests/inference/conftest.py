"""Models of every architecture, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inference.tiny import ARCHITECTURES, make_model


@pytest.fixture(scope="session", params=ARCHITECTURES)
def any_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small classifier, one for each architecture."""
    return make_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="session")
def bert_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small BERT classifier."""
    return make_model(tmp_path_factory.mktemp("one-bert"), "bert")
