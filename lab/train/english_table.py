"""The table that recognizes English texts, ``english.npz``: a logistic regression on groups of letters."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from softirr.meaning.measures.languages import BUCKETS, letter_groups, mostly_latin

_EPOCHS = 4
_BATCH = 2048
_MOST = 25_000
"""Texts of a language that are used."""
_LOOKS_FOREIGN = 1.0
"""Log odds below which an English word is listed, so that it never counts as foreign."""
_WORD = re.compile(r"[^\W\d_]+")


def write_english(
    file: Path, english: Sequence[str], texts_by_language: Mapping[str, Sequence[str]], seed: int = 1
) -> None:
    """Fit the table to English texts and texts of other languages, and write it.

    Texts that English and another language share are left out, as are scripts other than Latin.
    """
    rng = Random(seed)
    english_texts = {text for text in english if mostly_latin(text)}
    folded = {text.casefold() for text in english_texts}
    foreign = [
        text
        for texts in texts_by_language.values()
        for text in rng.sample(list(texts), min(len(texts), _MOST))
        if mostly_latin(text) and text.casefold() not in folded
    ]
    rows = [(text, 1.0) for text in sorted(english_texts)] + [(text, 0.0) for text in foreign]
    rng.shuffle(rows)
    weights, bias = fit_english([text for text, _ in rows], [label for _, label in rows], seed)
    scale = float(np.abs(weights).max()) / 127 or 1.0
    rounded = np.round(weights / scale).astype(np.int8)
    words = _foreign_looking_words(english_texts, foreign, (rounded * scale).astype(np.float64), bias)
    np.savez_compressed(file, weights=rounded, scale=np.float64(scale), bias=np.float64(bias), words=words)


def fit_english(texts: Sequence[str], labels: Sequence[float], seed: int) -> tuple[NDArray[np.float32], float]:
    """Weight of each group of letters, and the bias."""
    torch.manual_seed(seed)
    table = torch.nn.EmbeddingBag(BUCKETS, 1, mode="sum")
    torch.nn.init.zeros_(table.weight)
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.Adam([table.weight, bias], lr=0.02)
    groups, truth = [letter_groups(text) for text in texts], torch.tensor(labels)

    def log_odds(rows: Sequence[int]) -> Tensor:
        sizes = torch.tensor([len(groups[k]) for k in rows])
        flat = torch.tensor([group for k in rows for group in groups[k]])
        return table(flat, sizes.cumsum(0) - sizes).squeeze(1) / sizes.clamp_min(1).sqrt() + bias

    for _ in range(_EPOCHS):
        order = torch.randperm(len(groups))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(log_odds(rows.tolist()), truth[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 0.4
    return table.weight.detach().squeeze(1).numpy(), float(bias.detach())


def _foreign_looking_words(
    english: set[str], foreign: Sequence[str], weights: NDArray[np.float64], bias: float
) -> NDArray[np.uint32]:
    """Checksums of English words that look foreign. Words of both kinds of texts are left out, unless frequent."""
    counts = Counter(word for text in english if text.isascii() for word in set(_WORD.findall(text.lower())))
    foreign_counts = Counter(word for text in foreign for word in set(_WORD.findall(text.lower())))
    listed = set()
    for word, count in counts.items():
        if count < 3 or len(word) <= 3 or (foreign_counts[word] >= 3 and count < 30):
            continue
        groups = letter_groups(word)
        if weights[groups].sum() / max(len(groups), 1) ** 0.5 + bias < _LOOKS_FOREIGN:
            listed.add(zlib.crc32(word.encode()))
    return np.array(sorted(listed), dtype=np.uint32)
