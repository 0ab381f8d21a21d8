"""``python -m lab.bench inference`` on a small model: its methods and how it counts. Run the command for the speeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lab.bench import inference
from lab.bench.__main__ import bench_lines
from lab.bench.inference_contenders import (
    BUNDLED,
    cross_encoder_way,
    label_order,
    pipeline_way,
    short_texts,
)
from softirr.errors import InputError
from tests.inference.tiny import make_model


def lines(*options: str) -> list[str]:
    return list(bench_lines("inference", options))


def test_texts_are_different_and_as_long_as_real_terms() -> None:
    texts = short_texts(2_000, seed=1)
    assert len(set(texts)) == 2_000 and texts[:50] == short_texts(50, seed=1)
    words = np.array([len(text.split()) for text in texts])
    assert 3.5 < words.mean() < 4.6 and 1.8 < words.std() < 2.8


@pytest.mark.slow
def test_the_tables(tmp_path: Path) -> None:
    folder = make_model(tmp_path, "bert", labels={0: "contradiction", 1: "entailment", 2: "neutral"})
    options = ["--models", str(folder), "--threads", "1", "--rounds", "1"]
    out = "\n".join(lines(*options, "--pairs", "12", "--precisions", "float32", "bfloat16"))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("| ")]
    speed = {row[0]: row for row in rows if row[0].startswith(("(a)", "(b)", "softirr"))}
    assert list(speed) == [inference.PIPELINE, inference.ENCODER, "softirr float32", "softirr bfloat16"]
    assert float(speed["softirr float32"][6]) < 1e-5 and float(speed[inference.ENCODER][6]) < 1e-5
    assert float(speed["softirr bfloat16"][6]) < 1e-2 and float(speed["softirr bfloat16"][7]) < 2e-3
    with pytest.raises(InputError, match="There is no model nothing"):
        lines("--models", "nothing")
    with pytest.raises(InputError, match="no output with the name entailment"):
        lines("--models", str(make_model(tmp_path / "nameless", "bert")), "--pairs", "2")


@pytest.mark.slow
def test_both_peers_run_the_bundled_model_in_float32(root: Path) -> None:
    folder = inference._folder(BUNDLED)
    assert folder == root / "softirr" / "models" / "nli"
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["dtype"] == "float16"
    pairs = [("heart attack", "myocardial infarction"), ("fever", "cough")]
    answers = [peer(folder, pairs, "cpu")() for peer in (pipeline_way, cross_encoder_way)]
    assert np.abs(answers[0] - answers[1]).max() < 1e-5, "rounding to float16 moves them by more"
    entailed = answers[0][:, label_order(folder).index("e")]
    assert entailed[0] > 0.5 > entailed[1]
