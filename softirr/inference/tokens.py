"""Tokenization of each text once, and pair inputs assembled from the stored ids.

How a tokenizer joins two texts (special tokens before, between and after them, token types) is derived from its pair
encodings, and assembled pairs are compared with these; a tokenizer that joins in another way encodes every pair itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_PROBES = (
    ("a", "b"),
    ("heart attack", "pain in the left arm"),
    ("left kidney stone 3 mm", "fever"),
    ("x", "chronic cough"),
)
"""Pairs of texts that are not empty: some tokenizers treat a pair with an empty second text as a single text."""
_NO_LIMIT = 1_000_000
"""Tokenizers without a limit report a huge number."""
_CHARACTERS_PER_TOKEN = 16
"""Characters per token, more than usual.

Only so much of a text is tokenized at first, because tokenizing 2 MB takes seconds.
"""
_EDGE = 16


@dataclass(frozen=True, eq=False)
class Packed:
    """Concatenated pair inputs without padding.

    Attributes
    ----------
    ids, types, positions : shape (tokens,)
    lengths : shape (pairs,), tokens of each
    starts : shape (pairs,), index of each pair's first token
    """

    ids: Ints
    types: Ints
    positions: Ints
    lengths: Ints
    starts: Ints

    @classmethod
    def of(cls, ids: Ints, types: Ints, lengths: Ints) -> Packed:
        """The inputs with the places of their tokens."""
        starts = np.cumsum(lengths) - lengths
        return cls(ids, types, np.arange(len(ids)) - np.repeat(starts, lengths), lengths, starts)


@dataclass(frozen=True, eq=False)
class _Template:
    """Special tokens before, between and behind the two texts, with the token types of all five pieces."""

    prefix: list[int]
    separator: list[int]
    suffix: list[int]
    types: Ints


class PairTokens:
    """A tokenizer and the ids of all texts it has seen.

    Parameters
    ----------
    tokenizer
        A transformers tokenizer.
    max_length
        Most tokens of a pair, special ones included.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._tokenizer = tokenizer
        self.max_length = max_length
        self._ids: dict[str, Ints] = {}
        self._template = self._read_template()
        self.assembled = self._template is not None
        """Whether pairs are assembled from stored ids; otherwise the tokenizer encodes each pair."""

    @property
    def special(self) -> int:
        """Special tokens of every pair."""
        if self._template is None:
            return int(self._tokenizer.num_special_tokens_to_add(pair=True))
        return len(self._template.prefix) + len(self._template.separator) + len(self._template.suffix)

    def learn(self, texts: Sequence[str]) -> None:
        """Tokenize new texts; of a very long text only a start that is still longer than the longest pair."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self._ids]
        characters = _CHARACTERS_PER_TOKEN * self.max_length
        if getattr(self._tokenizer, "truncation_side", "right") == "left":  # it needs the end of the text
            characters = max((len(text) for text in new_texts), default=0)
        while new_texts:
            beginnings = [text[:characters] for text in new_texts]
            encoded = self._tokenizer(beginnings, add_special_tokens=False, truncation=False, verbose=False)
            for text, ids in zip(new_texts, encoded["input_ids"], strict=True):
                # the end of a part may be tokenized differently from the same place in the whole text
                if len(text) <= characters or len(ids) > self.max_length + _EDGE:
                    self._ids[text] = np.asarray(ids, dtype=np.int64)
            new_texts = [text for text in new_texts if text not in self._ids]
            characters *= 8

    def table(self, texts: Sequence[str]) -> TokenTable:
        """The texts (all tokenized), to put pairs of them together by index."""
        self.learn(texts)
        return TokenTable(self, texts, [self._ids[text] for text in texts])

    def encode_pair(self, a: str, b: str) -> tuple[list[int], list[int]]:
        """Ids and token types of one pair by the tokenizer itself, longest text cut first."""
        encoded = self._tokenizer(
            a, b, truncation="longest_first", max_length=self.max_length, return_token_type_ids=True, verbose=False
        )
        return list(encoded["input_ids"]), list(encoded.get("token_type_ids") or [0] * len(encoded["input_ids"]))

    def _read_template(self) -> _Template | None:
        """The tokenizer's template for two texts; None where its encodings do not follow one."""
        full = self._tokenizer(*_PROBES[1], return_token_type_ids=True)
        ids = list(full["input_ids"])
        types = list(full.get("token_type_ids") or [0] * len(ids))
        first, second = (self._tokenizer(text, add_special_tokens=False)["input_ids"] for text in _PROBES[1])
        first_start = _find(ids, first, 0)
        second_start = -1 if first_start < 0 else _find(ids, second, first_start + len(first))
        if not first or not second or second_start < 0:
            return None
        edges = [0, first_start, first_start + len(first), second_start, second_start + len(second), len(ids)]
        pieces = [types[start:end] for start, end in pairwise(edges)]
        if any(len(set(piece)) > 1 for piece in pieces):
            return None
        piece_types = np.array([piece[0] if piece else 0 for piece in pieces], dtype=np.int64)
        template = _Template(ids[:first_start], ids[edges[2] : second_start], ids[edges[4] :], piece_types)
        special = len(template.prefix) + len(template.separator) + len(template.suffix)
        if self.max_length <= special + 2:
            raise InputError(f"A longest length of {self.max_length} tokens leaves no room for two texts.")
        for probe in _PROBES:
            a, b = (self._tokenizer(text, add_special_tokens=False)["input_ids"] for text in probe)
            ids_of_pair = [*template.prefix, *a, *template.separator, *b, *template.suffix]
            sizes = [len(template.prefix), len(a), len(template.separator), len(b), len(template.suffix)]
            assembled = ids_of_pair, np.repeat(piece_types, sizes).tolist()
            if len(ids_of_pair) <= self.max_length and assembled != self.encode_pair(*probe):
                return None
        return template


class TokenTable:
    """Texts with their ids in one flat array; made by :meth:`PairTokens.table`."""

    def __init__(self, tokens: PairTokens, texts: Sequence[str], ids: list[Ints]) -> None:
        self._tokens, self._texts = tokens, texts
        template = tokens._template
        special = [template.prefix, template.separator, template.suffix] if template else [[], [], []]
        pieces = [*(np.asarray(piece, dtype=np.int64) for piece in special), *ids]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        ends = np.cumsum(lengths)
        self._flat = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)
        self._special_lengths, self._special_starts = lengths[:3], (ends - lengths)[:3]
        self.lengths, self._starts = lengths[3:], (ends - lengths)[3:]

    def pair_lengths(self, left_texts: Ints, right_texts: Ints) -> tuple[Ints, Bools]:
        """Tokens of each pair after cutting, shape (n,), and whether it was cut, shape (n,)."""
        full_length = self.lengths[left_texts] + self.lengths[right_texts] + self._tokens.special
        return np.minimum(full_length, self._tokens.max_length), full_length > self._tokens.max_length

    def pack(self, left_texts: Ints, right_texts: Ints) -> Packed:
        """The pairs (left_texts[k], right_texts[k]) as model inputs, end to end."""
        if not self._tokens.assembled or not (self.lengths[left_texts].all() and self.lengths[right_texts].all()):
            return self._pack_by_tokenizer(left_texts, right_texts)
        template = self._tokens._template
        assert template is not None
        n = len(left_texts)
        cut_left, cut_right = longest_first(
            self.lengths[left_texts], self.lengths[right_texts], self._tokens.max_length - self._tokens.special
        )
        starts, lengths = np.empty((n, 5), dtype=np.int64), np.empty((n, 5), dtype=np.int64)
        starts[:, 0::2], lengths[:, 0::2] = self._special_starts, self._special_lengths
        left_skip, right_skip = np.zeros_like(left_texts), np.zeros_like(right_texts)
        if getattr(self._tokens._tokenizer, "truncation_side", "right") == "left":
            left_skip, right_skip = self.lengths[left_texts] - cut_left, self.lengths[right_texts] - cut_right
        starts[:, 1], lengths[:, 1] = self._starts[left_texts] + left_skip, cut_left
        starts[:, 3], lengths[:, 3] = self._starts[right_texts] + right_skip, cut_right
        pieces = lengths.ravel()
        ends = np.cumsum(pieces)
        total = int(ends[-1]) if n else 0
        where = np.arange(total) + np.repeat(starts.ravel() - (ends - pieces), pieces)
        return Packed.of(self._flat[where], np.repeat(np.tile(template.types, n), pieces), lengths.sum(axis=1))

    def _pack_by_tokenizer(self, left_texts: Ints, right_texts: Ints) -> Packed:
        pairs = zip(left_texts.tolist(), right_texts.tolist(), strict=True)
        encoded = [self._tokens.encode_pair(self._texts[i], self._texts[j]) for i, j in pairs]
        return Packed.of(
            np.array([token for ids, _ in encoded for token in ids], dtype=np.int64),
            np.array([kind for _, types in encoded for kind in types], dtype=np.int64),
            np.array([len(ids) for ids, _ in encoded], dtype=np.int64),
        )


def longest_first(left_lengths: Ints, right_lengths: Ints, room: int) -> tuple[Ints, Ints]:
    """Lengths of both texts after cutting them to `room` tokens in total.

    The longer text loses tokens until both are equally long.

    An odd remaining token goes to the same text as in the ``longest_first`` rule of the tokenizers library: to the
    longer one, or to the second of two of the same length.

    Parameters
    ----------
    left_lengths, right_lengths : shape (n,)
        Tokens of both texts of each pair.
    room : int
        Most tokens of a pair.

    Returns
    -------
    tuple of two arrays, shape (n,) each
    """
    short = np.minimum(left_lengths, right_lengths)
    kept_long = np.maximum(short, room - short)
    still = short + kept_long > room
    kept_short = np.where(still, room // 2, short)
    kept_long = np.where(still, room // 2 + room % 2, kept_long)
    is_whole = left_lengths + right_lengths <= room
    swap = left_lengths > right_lengths
    new_left = np.where(is_whole, left_lengths, np.where(swap, kept_long, kept_short))
    new_right = np.where(is_whole, right_lengths, np.where(swap, kept_short, kept_long))
    return new_left, new_right


def _find(sequence: list[int], sought: list[int], start: int) -> int:
    return next(
        (i for i in range(start, len(sequence) - len(sought) + 1) if sequence[i : i + len(sought)] == list(sought)), -1
    )


def length_limit(tokenizer: Any, config: Any) -> int:
    """Most tokens of one input: the tokenizer's limit and the model's number of positions, whichever is smaller."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < _NO_LIMIT else []
    positions = getattr(config, "max_position_embeddings", None)
    if positions and getattr(config, "position_biased_input", True):
        # these models count positions from after the padding index
        offset = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
        limits.append(positions - offset)
    return min(limits) if limits else 512
