"""Mutual entailment (paper, Eq. eqv_nli) by a small classifier."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import softirr
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.inference import models
from softirr.meaning.measures import measure
from tests.inference.tiny import make_model, plain_probabilities, some_texts

LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}
TEXTS = some_texts(30, seed=9)
PAIRS = [(TEXTS[i], TEXTS[(7 * i + 3) % 30]) for i in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("nli"), "bert", labels=LABELS)


def test_both_directions_and_their_geometric_mean(folder: Path) -> None:
    nli = measure(f"nli:{folder}", device="cpu", precision="float32")
    assert nli.directional and not nli.has_blocks and nli.cache_key
    forward = plain_probabilities(folder, PAIRS)[:, 1]
    backward = plain_probabilities(folder, [(b, a) for a, b in PAIRS])[:, 1]
    same = np.array([a == b for a, b in PAIRS])
    forward[same] = backward[same] = 1.0
    assert np.allclose(nli.both(PAIRS), np.stack([forward, backward], axis=1), atol=1e-5)
    assert np.allclose(nli.entail(PAIRS), forward, atol=1e-5)
    assert np.allclose(nli.score(PAIRS), np.sqrt(forward * backward), atol=1e-5)
    assert nli.score([(b, a) for a, b in PAIRS]).tolist() == nli.score(PAIRS).tolist()
    assert np.ptp(forward) > 0.02, "answers that are all alike would show nothing"


def test_same_texts_need_no_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nli = measure(f"nli:{folder}", device="cpu", facts=False)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(nli._engine, "run", never)  # type: ignore[attr-defined]
    assert nli.score([("heart  attack", " heart attack"), ("", "")]).tolist() == [1.0, 1.0]
    assert nli.score([]).shape == (0,)
    assert nli.entail([]).shape == (0,) and nli.entail([("a", "a ")]).tolist() == [1.0]  # type: ignore[attr-defined]


def test_each_unordered_pair_is_asked_once_in_both_directions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nli = measure(f"nli:{folder}", device="cpu", facts=False)
    scored_pairs: list[tuple[str, str]] = []
    run = nli._engine.run  # type: ignore[attr-defined]

    def spy(texts, left_texts, right_texts, **options):  # type: ignore[no-untyped-def]
        scored_pairs.extend(
            (texts[i], texts[j]) for i, j in zip(left_texts.tolist(), right_texts.tolist(), strict=True)
        )
        return run(texts, left_texts, right_texts, **options)

    monkeypatch.setattr(nli._engine, "run", spy)  # type: ignore[attr-defined]
    nli.score([*PAIRS, *PAIRS, *((b, a) for a, b in PAIRS)])
    assert len(scored_pairs) == len(set(scored_pairs))
    assert set(scored_pairs) == {pair for a, b in PAIRS if a != b for pair in ((a, b), (b, a))}


def test_provenance_names_model_hash_order_device_and_cut_pairs(folder: Path, tmp_path: Path) -> None:
    nli = measure(f"nli:{folder}", device="cpu", precision="float32", max_length=31)
    long = " ".join(some_texts(9))
    nli.score([(long, "fever"), ("fever", long), ("fever", "cough")])
    provenance = nli.provenance()
    assert provenance.truncated_texts == 1
    assert provenance.label_order == "contradiction, entailment, neutral (names)"
    assert (provenance.device, provenance.precision, provenance.model) == ("cpu", "float32", str(folder))
    assert provenance.model_sha256 is not None and len(provenance.model_sha256) == 64
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert models.FoundModel("", copy).content_hash() == provenance.model_sha256, (
        "the same model elsewhere is the same model"
    )
    (copy / "README.md").write_text("a card", encoding="utf-8")
    assert models.FoundModel("", copy).content_hash() == provenance.model_sha256
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-5}), encoding="utf-8")
    assert models.FoundModel("", copy).content_hash() != provenance.model_sha256


def test_label_order_can_be_given_by_option_or_behind_the_name(folder: Path, tmp_path: Path) -> None:
    probabilities = plain_probabilities(folder, PAIRS[:3])
    for column, order in ((0, "e,n,c"), (2, "c,n,e")):
        name_with_labels, options = f"nli:{folder}?labels={order}", {"precision": "float32", "labels": order}
        for nli in (measure(name_with_labels, precision="float32"), measure(f"nli:{folder}", **options)):
            assert np.allclose(nli.entail(PAIRS[:3]), probabilities[:, column], atol=1e-5)  # type: ignore[attr-defined]
    nameless = make_model(tmp_path / "nameless", "bert", n_labels=2)
    with pytest.raises(InputError, match="behind its name"):
        measure(f"nli:{nameless}")
    assert measure(f"nli:{nameless}?labels=o,e").score(PAIRS[:2]).shape == (2,)


def test_models_that_are_not_there_and_options_that_are_not_known(folder: Path, tmp_path: Path) -> None:
    for name, options, message in (
        (f"nli:{tmp_path}/nothing", {}, "There is no model folder"),
        (f"nli:{tmp_path}", {}, "contains no model"),
        ("nli:some-owner/some-model", {}, "could not be downloaded"),
        (f"nli:{folder}", {"colour": "red"}, "colour"),
        (f"nli:{folder}", {"engine": "steam"}, "no engine"),
        (f"nli:{folder}?labels=e", {}, "does not fit"),
    ):
        with pytest.raises(InputError, match=message):
            measure(name, **options)


def test_missing_bundled_model_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(models, "resources", SimpleNamespace(files=lambda _: tmp_path))
    with pytest.raises(InputError, match="bundled entailment model is not installed"):
        measure("nli")


def test_the_folder_nli_with_a_config_is_the_bundled_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(models, "resources", SimpleNamespace(files=lambda _: tmp_path))
    shutil.copytree(folder, tmp_path / "models" / "something")
    shutil.copytree(folder, tmp_path / "models" / "nli")
    nli = measure("nli")
    assert (nli.name, nli.provenance().model) == ("nli", "bundled nli")
    assert nli.provenance().model_sha256 == models.FoundModel("", folder).content_hash()
    expected = measure(f"nli:{folder}").score(PAIRS)
    assert np.array_equal(nli.score(PAIRS), expected)
    table = AnnotationTable.from_answers(
        Answer(item=str(i), rater=rater, texts=(text,))
        for i, pair in enumerate(PAIRS)
        for rater, text in zip("ab", pair, strict=True)
    )
    report = softirr.agreement(table, measure="nli")
    assert report.measure == "nli"
    assert report.coefficients["observed_agreement"].value == pytest.approx(expected.mean())


def test_short_names_lead_to_pinned_revisions(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    import huggingface_hub

    downloads: list[tuple[str, str | None]] = []

    def download(hub: str, *, revision: str | None = None, **_: object) -> str:
        downloads.append((hub, revision))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for known_model in models.KNOWN_MODELS:
        model = models.find_model(known_model.short, known_model.family)
        assert (
            model.hub == known_model.hub
            and downloads[-1] == (known_model.hub, known_model.revision)
            and len(known_model.revision) == 40
        )
    models.find_model("owner/model@v2", "nli")
    assert downloads[-1] == ("owner/model", "v2")
    assert (
        measure("nli:pubmedbert", device="cpu").provenance().label_order
        == "contradiction, entailment, neutral (pinned)"
    )
