"""BERT classifiers that softirr made load without transformers, and give the same numbers, bit by bit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from softirr.errors import InputError
from softirr.inference.bert import is_own_bert, load_own_bert
from softirr.inference.forward import PackedBert, PaddedForward
from softirr.inference.loading import CLASSIFIER, load
from softirr.inference.tokens import PairTokens
from tests.inference.tiny import some_texts
from tests.programs import run_python

TEXTS = (
    *some_texts(12),
    "",
    "  ",
    "Ünïcode\u200b héart ﬁbrillation",
    "心臓病 and 😀",
    "[MASK] [SEP] pain",
    "a\x00b\tc\r\nd",
    "e\u0301 İ ß",
    "x" * 300,
    "left kidney stone 3 mm " * 60,
)


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "softirr" / "models" / "nli"


@pytest.fixture(scope="module")
def implementations(folder: Path) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Tokenizer and model by transformers, and without it."""
    return load(folder, CLASSIFIER, torch.float32), load_own_bert(folder, torch.float32)


def test_tokens_are_those_of_transformers(implementations: Any) -> None:
    (reference, _), (tokenizer, _) = implementations
    assert tokenizer.model_max_length == reference.model_max_length and tokenizer.pad_token_id == reference.pad_token_id
    assert tokenizer.num_special_tokens_to_add(pair=True) == reference.num_special_tokens_to_add(pair=True)
    assert (
        tokenizer(list(TEXTS), add_special_tokens=False)["input_ids"]
        == (reference(list(TEXTS), add_special_tokens=False, verbose=False)["input_ids"])
    )
    expected, tokens = PairTokens(reference, 40), PairTokens(tokenizer, 40)
    assert tokens.assembled and expected.assembled
    assert all(tokens.encode_pair(a, b) == expected.encode_pair(a, b) for a in TEXTS for b in TEXTS)


@pytest.mark.slow
def test_weights_and_logits_are_those_of_transformers(implementations: Any) -> None:
    (reference_tokenizer, reference_model), (own_tokenizer, model) = implementations
    expected = dict(reference_model.named_parameters())
    shapes = model.shapes(model.config)
    assert shapes.keys() == expected.keys() and len(list(model.parameters())) == len(shapes)
    left_texts, right_texts = (side.ravel() for side in np.mgrid[: len(TEXTS), 10 : len(TEXTS)])
    batch = PairTokens(reference_tokenizer, 128).table(TEXTS).pack(left_texts, right_texts)
    same = PairTokens(own_tokenizer, 128).table(TEXTS).pack(left_texts, right_texts)
    assert np.array_equal(batch.ids, same.ids) and np.array_equal(batch.types, same.types)
    with torch.inference_mode():
        assert torch.equal(PackedBert(model)(batch), PackedBert(reference_model)(batch))
        padded = PaddedForward(reference_model)(batch)
        assert torch.allclose(PackedBert(model)(batch), padded, atol=1e-4)
    assert model.config.id2label == reference_model.config.id2label and model.config.num_labels == 2


@pytest.mark.slow
def test_transformers_is_never_imported_for_the_bundled_model() -> None:
    code = (
        "import sys, softirr\n"
        "softirr.measure('nli', device='cpu').score([('heart attack', 'myocardial infarction'), ('fever', '')])\n"
        "print(sorted({'transformers', 'scipy', 'pandas', 'sympy', 'torch._dynamo'} & set(sys.modules)))"
    )
    assert run_python(code) == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="Linux lists what is mapped there")
def test_only_the_table_of_words_stays_mapped() -> None:
    code = (
        "import re, torch\n"
        "from pathlib import Path\n"
        "from softirr.inference.bert import load_own_bert\n"
        "from softirr.inference.models import bundled_model\n"
        "kept = load_own_bert(bundled_model().folder, torch.float32)\n"
        "areas = re.split(r'\\n(?=[0-9a-f]+-[0-9a-f]+ )', Path('/proc/self/smaps').read_text())\n"
        "own = [area for area in areas if 'model.safetensors' in area.splitlines()[0]]\n"
        "print(len(own), sum(int(re.search(r'Rss: +([0-9]+) kB', area)[1]) for area in own))"
    )
    mappings, kilobytes = map(int, run_python(code).split())
    assert mappings == 1
    assert kilobytes < 5_000, "the layers, 22 MB, have been copied to float32"


@pytest.mark.slow
def test_report_with_the_bundled_model_imports_no_slow_library(tmp_path: Path) -> None:
    rows = "item,rater,text\n1,a,mild fever\n1,b,fever\n2,a,cough\n2,b,dry cough\n"
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    code = (
        "import atexit, sys\n"
        "slow = {'transformers', 'pandas', 'sympy', 'scipy.stats', 'torch._dynamo', 'matplotlib', 'pint'}\n"
        "atexit.register(lambda: print('imported', sorted(slow & set(sys.modules))))\n"
        "from softirr.cli.main import main\n"
        "sys.argv = ['softirr', 'score', sys.argv[1], '--cache', 'none', '--device', 'cpu']\n"
        "main()"
    )
    printed = run_python(code, tmp_path / "rows.csv")
    assert "Krippendorff's alpha" in printed and printed.endswith("imported []")


def test_other_folders_are_left_to_transformers(folder: Path, bert_model: Path, tmp_path: Path) -> None:
    assert is_own_bert(folder) and not is_own_bert(bert_model) and not is_own_bert(tmp_path)
    for key, value in (("hidden_act", "relu"), ("position_embedding_type", "relative_key"), ("architectures", [])):
        assert not is_own_bert(_changed(folder, tmp_path / key, key, value)), key


@pytest.mark.parametrize(("key", "value"), [("hidden_size", 96), ("num_hidden_layers", 7), ("layer_norm_eps", None)])
def test_settings_that_do_not_fit_the_weights_are_an_error(folder: Path, tmp_path: Path, key: str, value: Any) -> None:
    with pytest.raises(InputError, match="are missing, damaged or of another model"):
        load_own_bert(_changed(folder, tmp_path / "changed", key, value), torch.float32)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_an_error(folder: Path, tmp_path: Path, name: str) -> None:
    copied = shutil.copytree(folder, tmp_path / "damaged")
    (copied / name).write_bytes((copied / name).read_bytes()[:1000])
    with pytest.raises(InputError, match="are missing, damaged or of another model"):
        load_own_bert(copied, torch.float32)


def test_a_missing_weight_is_an_error(folder: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(folder, tmp_path / "without")
    weights = load_file(copied / "model.safetensors")
    del weights["classifier.bias"]
    save_file(weights, copied / "model.safetensors")
    with pytest.raises(InputError, match="are missing, damaged or of another model"):
        load_own_bert(copied, torch.float32)


def _changed(folder: Path, to: Path, key: str, value: Any) -> Path:
    """A copy with another setting; None removes it."""
    shutil.copytree(folder, to)
    file = to / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    if value is None:
        del config[key]
    else:
        config[key] = value
    file.write_text(json.dumps(config), encoding="utf-8")
    return to
