"""Training from data to a folder: it learns, it goes on where it was stopped, it refuses what is damaged."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import softirr
from lab.train.__main__ import main
from lab.train.folder import FACTS, load_start, save
from softirr.errors import InputError

from .conftest import FINDINGS, ORGANS, grown, write

pytestmark = pytest.mark.slow

SMALL = [
    "--pairs",
    "9216",
    "--rounds",
    "3",
    "--chunk",
    "512",
    "--batch",
    "32",
    "--rate",
    "0.005",
    "--layer-decay",
    "1",
    "--average",
    "0.97",
    "--development",
    "80",
    "--hard",
    "50",
    "--workers",
    "0",
    "--device",
    "cpu",
    "--precision",
    "float32",
    "--own-words",
    "0",
    "--no-embedding",
]


def train(work: Path, toy: Path, tiny: Path, *more: str) -> int:
    return main(["--work", str(work), "--terminology", str(toy), "--start", str(tiny), *SMALL, *more])


@pytest.fixture(scope="module")
def trained(toy, tiny, tmp_path_factory):
    work = tmp_path_factory.mktemp("trained")
    assert train(work, toy, tiny) == 0
    return work


def facts(folder: Path) -> dict:
    return json.loads((folder / FACTS).read_text(encoding="utf-8"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def average(work: Path) -> dict[str, np.ndarray]:
    """The moving average of the weights in a checkpoint, in full precision."""
    import torch

    kept = torch.load(work / "checkpoint.pt", map_location="cpu", weights_only=True)["average"]
    return {name: weight.numpy() for name, weight in kept.items()}


def test_a_toy_terminology_ends_in_a_model_that_beats_its_start(trained):
    development = facts(trained / "model")["development"]
    before, after = development["before"], development["after"]
    assert after["score"] < before["score"] - 0.01
    assert after["P synonym"] > after["P random"] + 0.02 > before["P synonym"] - before["P random"]


def test_the_folder_is_a_standard_one_that_every_measure_loads(trained):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = trained / "model"
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    assert model.config.id2label == {0: "not_entailment", 1: "entailment"}
    assert {w.dtype for w in weights(folder).values()} == {np.dtype("float16")}
    AutoTokenizer.from_pretrained(folder)
    measure = softirr.measure(f"nli:{folder}", device="cpu")
    edges = [(f"small {finding} of the {organ}", f"{organ} {finding}") for finding in FINDINGS for organ in ORGANS]
    both = measure.both(edges)
    assert (both[:, 0] > both[:, 1]).mean() > 0.8


def test_the_calibration_is_in_the_weights(trained):
    model_facts = facts(trained / "model")
    scale, shift = model_facts["calibration"]["scale"], model_facts["calibration"]["shift"]
    assert 0 < scale < 25 and math.isfinite(shift)
    card = (trained / "model" / "README.md").read_text(encoding="utf-8")
    assert "Not measured yet" in card and re.search(r"\| toyterms \| \d+ \| 0 \|", card), "no text excluded"


def test_the_shift_for_what_was_never_seen_is_fitted_there_or_given(trained, toy, tiny, tmp_path, capsys):
    """The same command with --unseen or --shift calibrates a finished training anew."""
    unseen = tmp_path / "organs"
    write(unseen / "concepts.tsv", "id\tname\nk\tkidney disease\nl\tliver disease\nh\theart disease\ns\tskin disease\n")
    rows = [
        f"{key}\t{word} disorder\tEXACT" for key, word in zip("klhs", ("kidney", "liver", "heart", "skin"), strict=True)
    ]
    write(unseen / "synonyms.tsv", "\n".join(["id\tsynonym\tscope", *rows]) + "\n")
    for name in ("data.json.gz", "checkpoint.pt"):
        shutil.copy(trained / name, tmp_path / name)
    assert train(tmp_path, toy, tiny, "--unseen", str(unseen)) == 0
    plain, shifted = facts(trained / "model")["calibration"], facts(tmp_path / "model")["calibration"]
    assert plain["for_unseen"] == 0 and shifted["for_unseen"] != 0 and shifted["unseen"] == ["organs"]
    assert shifted["scale"] == plain["scale"] and shifted["shift"] == pytest.approx(
        plain["shift"] + shifted["for_unseen"]
    )
    bias = [weights(folder / "model")["classifier.bias"].astype(float) for folder in (trained, tmp_path)]
    assert bias[1][1] - bias[0][1] == pytest.approx(shifted["for_unseen"], rel=0.01, abs=0.01)
    assert train(tmp_path, toy, tiny, "--shift", "0.5") == 0
    given = facts(tmp_path / "model")["calibration"]
    assert given["for_unseen"] == 0.5 and given["shift"] == pytest.approx(plain["shift"] + 0.5)
    assert train(tmp_path, toy, tiny, "--unseen", str(unseen), "--shift", "0.5") == 2
    assert "give only one of them" in capsys.readouterr().err
    write(unseen / "synonyms.tsv", "id\tsynonym\tscope\n")
    assert train(tmp_path, toy, tiny, "--unseen", str(unseen)) == 2
    assert "no pair of kind synonym" in capsys.readouterr().err


def test_stopped_and_resumed_gives_the_same_weights(trained, toy, tiny, tmp_path, capsys, monkeypatch):
    """By a clock that goes on by a second with each look at it: a part of seven looks ends inside a round."""
    shutil.copy(trained / "data.json.gz", tmp_path / "data.json.gz")
    monkeypatch.setattr("lab.train.loop.time", SimpleNamespace(monotonic=itertools.count().__next__))
    stops = 0
    while stops < 20:
        assert train(tmp_path, toy, tiny, "--minutes", str(7 / 60)) == 0
        if "Time is up" not in capsys.readouterr().err:
            break
        stops += 1
    assert stops > 2
    resumed, straight = tmp_path / "model", trained / "model"
    assert (
        facts(resumed)["trained"]["finished"]
        and facts(resumed)["trained"]["steps"] == facts(straight)["trained"]["steps"]
    )
    one, other = weights(resumed), weights(straight)
    assert all(np.array_equal(one[name], other[name]) for name in other)


def test_a_checkpoint_inside_a_round_does_not_change_the_training(trained, toy, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("lab.train.loop._KEEP_EVERY", -1)
    shutil.copy(trained / "data.json.gz", tmp_path / "data.json.gz")
    assert train(tmp_path, toy, tiny) == 0
    # in full precision: the model's folder holds half precision, which hides most differences in the last bits
    one, other = average(tmp_path), average(trained)
    assert all(np.array_equal(one[name], other[name]) for name in other)


def test_a_prepared_folder_is_all_that_another_machine_needs(trained, toy, tiny, tmp_path, monkeypatch):
    assert train(tmp_path / "here", toy, tiny, "--prepare") == 0
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    monkeypatch.setattr("lab.train.folder.default_start", lambda: pytest.fail("asked for"))
    assert main(["--work", str(tmp_path / "there"), *SMALL, "--pairs", "512", "--rounds", "1"]) == 0
    model_facts = facts(tmp_path / "there" / "model")
    assert model_facts["recipe"]["start"] == "tiny" and model_facts["trained"]["pairs"] == 512
    assert model_facts["data"]["fingerprint"] == facts(trained / "model")["data"]["fingerprint"]


def test_a_prepared_folder_goes_on_from_a_trained_model(trained, toy, tiny, tmp_path):
    assert train(tmp_path, toy, trained / "model", "--prepare") == 0
    assert set(weights(tmp_path / "start")) == set(weights(trained / "model"))
    assert np.array_equal(
        weights(tmp_path / "start")["classifier.weight"], weights(trained / "model")["classifier.weight"]
    )
    assert main(["--work", str(tmp_path), *SMALL, "--pairs", "512", "--rounds", "1"]) == 0
    before = facts(trained / "model")
    assert facts(tmp_path / "model")["history"] == [{k: v for k, v in before.items() if k != "history"}]
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert f"\n| 1 | tiny | {before['trained']['pairs']:,} | " in card
    assert "\n| 2 | " in card and "\n| 2 | " not in (trained / "model" / "README.md").read_text(encoding="utf-8")


def test_the_card_counts_trainings_and_tells_of_a_mean_what_it_is_of():
    from lab.train.card import card

    first = {"recipe": {"start": "tiny", "batch": 32}, "trained": {"pairs": 512, "seconds": 7}}
    mean = {"recipe": {"start": "one", "mean": ["two"], "batch": 99}, "trained": {"pairs": 0, "seconds": 5}}
    second = {"recipe": {"start": "both", "batch": 64}, "trained": {"pairs": 1024, "seconds": 8}}
    text = card(second | {"history": [first, mean]}, {}, {}, 1.0)
    rows = [line for line in text.splitlines() if line.startswith(("| 1", "| mean", "| 2", "| 3"))]
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| 1", "tiny", "512"],
        ["| mean", "one, two", "–"],
        ["| 2", "both", "1,024"],
    ]
    assert "1,536 pairs in all" in text and "The start model is tiny" in text


def test_a_worker_that_dies_is_told_in_one_sentence(trained, tiny, tmp_path, monkeypatch):
    from lab.train.batches import ChunkPlan, chunks
    from softirr.errors import SoftirrError

    data = tmp_path / "data.json.gz"
    data.write_bytes(b"no data")
    plan = ChunkPlan(str(tiny), 0, 64, 16, 64)
    with pytest.raises(SoftirrError, match="process that makes batches"), chunks(str(data), plan, 1) as batches:
        list(batches(0, 1, ""))


def test_a_finished_training_has_nothing_left_to_do(trained, tiny, capsys):
    before = facts(trained / "model")["trained"]["steps"]
    assert main(["--work", str(trained), "--start", str(tiny), *SMALL]) == 0
    assert facts(trained / "model")["trained"]["steps"] == before


def test_another_seed_is_another_training(trained, toy, tiny, capsys):
    assert train(trained, toy, tiny, "--seed", "1") == 2
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert "another seed" in message


def test_other_data_need_another_folder(trained, tiny, tmp_path, capsys):
    write(tmp_path / "concepts.tsv", "id\tname\nX:1\tgout\n")
    assert main(["--work", str(trained), "--terminology", str(tmp_path), "--start", str(tiny), *SMALL]) == 2
    assert "other data" in capsys.readouterr().err
    two_files = f"ICD={write(tmp_path / 'codes.tsv', 'x')},{write(tmp_path / 'names.json', '{}')}"
    assert main(["--work", str(trained), "--terminology", two_files, "--start", str(tiny), *SMALL]) == 2
    assert "other data" in capsys.readouterr().err


def test_workers_make_the_same_batches(trained, tiny):
    from lab.train.batches import ChunkPlan, chunks

    plan = ChunkPlan(str(tiny), 0, 64, 16, 64)
    file = str(trained / "data.json.gz")
    with chunks(file, plan, 0) as alone, chunks(file, plan, 2) as many:
        for one, other in zip(alone(0, 5, ""), many(0, 5, ""), strict=True):
            assert all(
                np.array_equal(a.ids, b.ids) and np.array_equal(a.labels, b.labels)
                for a, b in zip(one, other, strict=True)
            )


def test_the_mean_of_two_models_is_calibrated_and_kept(trained, toy, tiny, tmp_path, capsys):
    shutil.copy(trained / "data.json.gz", tmp_path / "data.json.gz")
    start, other, mean = trained / "model", tmp_path / "other", tmp_path / "mean"
    assert train(tmp_path, toy, start, "--pairs", "512", "--rounds", "1", "--output", str(other)) == 0
    (tmp_path / "checkpoint.pt").unlink()
    assert train(tmp_path, toy, start, "--mean", str(other), "--pairs", "0", "--output", str(mean)) == 0
    name = next(n for n in weights(start) if n.endswith("word_embeddings.weight"))
    expected = (weights(start)[name].astype(float) + weights(other)[name]) / 2
    assert not np.array_equal(weights(start)[name], weights(other)[name])
    assert np.allclose(weights(mean)[name], expected, atol=1e-3)
    mean_facts = facts(mean)
    assert (
        mean_facts["trained"]["pairs"] == 0
        and mean_facts["trained"]["finished"]
        and mean_facts["recipe"]["mean"] == ["other"]
    )
    assert f"| mean | {trained.name}, other |" in (mean / "README.md").read_text(encoding="utf-8")
    (tmp_path / "checkpoint.pt").unlink()
    save(*grown(tiny, 2), other, {})
    assert train(tmp_path, toy, start, "--mean", str(other), "--pairs", "0") == 2
    assert "another shape" in capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.parametrize("part", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_start_is_refused_in_one_sentence(tiny, toy, tmp_path, part, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    file = broken / part
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    assert train(tmp_path / "work", toy, broken) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].startswith("softirr: ") and str(broken) in lines[-1]


def test_a_damaged_terminology_is_refused_in_one_sentence(toy, tiny, tmp_path, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(toy, broken)
    write(broken / "synonyms.tsv", "id\tsynonym\tscope\no1\tx\n")
    assert train(tmp_path / "work", broken, tiny) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1].startswith(f"softirr: {broken / 'synonyms.tsv'}, line 2")


def test_damaged_data_and_checkpoints_are_refused(trained, toy, tiny, tmp_path, capsys):
    for name in ("data.json.gz", "checkpoint.pt"):
        work = tmp_path / name
        work.mkdir()
        for file in ("data.json.gz", "checkpoint.pt"):
            shutil.copy(trained / file, work / file)
        (work / name).write_bytes((work / name).read_bytes()[:500])
        assert main(["--work", str(work), "--start", str(tiny), *SMALL]) == 2
        assert "is damaged" in capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "options", [[], ["--work", "x", "--pairs", "0"], ["--work", "x", "--pairs", "-1"], ["--minutes", "x"]]
)
def test_unusable_options_end_with_status_2(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(options)
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_model_to_start_from(tmp_path):
    with pytest.raises(InputError, match=r"contains no model"):
        load_start(str(tmp_path))
