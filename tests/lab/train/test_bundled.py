"""The bundled model is installed, is small, needs no network, and reaches the figures of its card."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import softirr
from lab.train.challenge import challenge_tables, read_challenge
from tests.programs import run_python

SAME = (
    ("heart attack", "myocardial infarction"),
    ("itching", "pruritus"),
    ("nosebleeds", "epistaxis"),
    ("trouble breathing", "dyspnea"),
)
OTHER = (
    ("hypertension", "hypotension"),
    ("left knee pain", "right knee pain"),
    ("rash", "no rash"),
    ("fever", "broken leg"),
)


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "softirr" / "models" / "nli"


def test_small_and_in_the_standard_form(folder):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    assert sum(f.stat().st_size for f in folder.rglob("*")) <= 50_000_000
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    assert model.config.id2label == {0: "not_entailment", 1: "entailment"}
    AutoTokenizer.from_pretrained(folder)


def test_nothing_in_it_names_a_place_on_a_machine(folder):
    for file in (*folder.glob("*.json"), folder / "README.md"):
        assert not any(f'"{start}' in file.read_text(encoding="utf-8") for start in ("/work", "/home", "/tmp", "/root"))


@pytest.mark.slow
def test_answers_in_another_folder_without_a_network(tmp_path, root):
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network here')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "import softirr\n"
        f"print(*softirr.measure('nli').score({[*SAME, *OTHER]!r}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(root), "HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hub")}
    p = np.array(run_python(code, folder=tmp_path, environment=environment).split(), dtype=float)
    assert (p[: len(SAME)] > 0.5).all() and (p[len(SAME) :] < 0.2).all(), p


def test_directions():
    directions = softirr.measure("nli", device="cpu").both(
        [("dry cough", "cough"), ("severe headache", "headache"), ("bacterial pneumonia", "pneumonia")]
    )
    assert (directions[:, 0] > directions[:, 1] + 0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["challenge.tsv", "second_challenge.tsv"])
def test_card_has_the_figures_of_the_challenge_sets(name, folder, root):
    tables = json.loads((folder / "measured.json").read_text(encoding="utf-8"))["shipped"]["tables"]
    documented = next(
        {row: values for row, *values in table["rows"]} for table in tables if table["title"] == f"Challenge set {name}"
    )
    pairs = read_challenge(str(root / "tests" / "lab" / "train" / name))
    summary, _ = challenge_tables(softirr.measure("nli", device="cpu"), pairs, name)
    measured = {row: values for row, *values in summary.rows}
    assert measured["pairs"][0] == documented["pairs"][0] == len(pairs)
    for row in measured:
        # number formats differ between processors: a pair or two may change sides
        assert measured[row][0] == pytest.approx(documented[row][0], abs=0.02), row
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"{documented['AUROC, equivalent against different'][0]:.3f}" in card
