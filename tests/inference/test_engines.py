"""Engines by their names; `test_ray.py` has the tests of a cluster."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.inference.classifier_options import ClassifierOptions
from softirr.inference.engines import open_engine

OPTIONS = ClassifierOptions(device="cpu", precision="float32", threads=1)


def test_engines_by_name(bert_model: Path) -> None:
    with pytest.raises(InputError, match="There is no engine 'steam'; use local or ray"):
        open_engine(bert_model, OPTIONS, engine="steam", workers=None)
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(InputError, match=r"install softirr\[ray\]"):
            open_engine(bert_model, OPTIONS, engine="ray", workers=2)
