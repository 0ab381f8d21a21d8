"""Small models of every architecture with matching tokenizers, made during the tests.

Weights are random but answers differ.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch

WORDS = [
    "acute", "chronic", "severe", "mild", "left", "right", "upper", "lower", "renal", "cardiac", "hepatic",
    "pulmonary", "bone", "skin", "nerve", "muscle", "pain", "swelling", "fracture", "infection", "stenosis",
    "carcinoma", "oedema", "fever", "cough", "rash", "lesion", "deficiency", "syndrome", "failure", "of", "the",
    "with", "without", "type", "secondary", "primary", "no",
]  # fmt: skip
ARCHITECTURES = ("bert", "roberta", "deberta-v2", "xlm-roberta", "modernbert")


def some_texts(n: int, *, seed: int = 0, longest: int = 7) -> list[str]:
    """Distinct short texts."""
    rng, texts = random.Random(seed), set[str]()
    while len(texts) < n:
        texts.add(" ".join(rng.choice(WORDS) for _ in range(rng.randint(1, longest))))
    return rng.sample(sorted(texts), n)


def make_model(folder: Path, architecture: str, *, n_labels: int = 3, labels: dict[int, str] | None = None) -> Path:
    """A sequence classifier with its tokenizer in a folder."""
    tokenizer = make_tokenizer(architecture)
    torch.manual_seed(7)
    model = _model(architecture, tokenizer, n_labels)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # the usual start (0.02) would make all answers alike
            if parameter.ndim > 1:
                parameter.normal_(0, 0.15)
            elif name.endswith("bias"):
                parameter.normal_(0, 0.05)
        head = model.classifier.out_proj if hasattr(model.classifier, "out_proj") else model.classifier
        head.weight.normal_(0, 0.25)
    if labels:
        model.config.id2label = labels
        model.config.label2id = {name: i for i, name in labels.items()}
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_tokenizer(architecture: str) -> Any:
    """A tokenizer of the architecture's class that cuts the words above into pieces."""
    import transformers as tr

    pieces = sorted({word[:4] for word in WORDS})
    if architecture == "bert":
        tails = sorted(
            {"##" + word[4:] for word in WORDS if len(word) > 4} | {"##" + c for c in "abcdefghijklmnopqrstuvwxyz"}
        )
        vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *tails, *"abcdefghijklmnopqrstuvwxyz"]
        return tr.BertTokenizer(vocab={token: i for i, token in enumerate(dict.fromkeys(vocab))}, model_max_length=64)
    if architecture == "roberta":
        alphabet, merges = _byte_pairs()
        vocab = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet]
        return tr.RobertaTokenizer(vocab={t: i for i, t in enumerate(vocab)}, merges=merges, model_max_length=64)
    scored = [("▁" + piece, -3.0) for piece in pieces] + [(c, -8.0) for c in "▁abcdefghijklmnopqrstuvwxyz0123456789.,-"]
    if architecture == "xlm-roberta":
        special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
        return tr.XLMRobertaTokenizer(vocab=[*special, *scored, ("<mask>", 0.0)], model_max_length=64)
    if architecture == "deberta-v2":
        special = [("[PAD]", 0.0), ("[UNK]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0)]
        return tr.DebertaV2Tokenizer(vocab=[*special, *scored, ("[MASK]", 0.0)], model_max_length=64)
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    alphabet, merges = _byte_pairs()
    vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *alphabet])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    return tr.PreTrainedTokenizerFast(
        tokenizer_object=core, model_input_names=["input_ids", "attention_mask"], model_max_length=64, **names
    )


def _byte_pairs() -> tuple[list[str], list[tuple[str, str]]]:
    from tokenizers.pre_tokenizers import ByteLevel

    alphabet, merges, merged = sorted(ByteLevel.alphabet()), [], set[str]()
    for word in WORDS:
        piece = "Ġ"
        for letter in word[:3]:
            if piece + letter not in merged:
                merges.append((piece, letter))
                merged.add(piece + letter)
            piece += letter
    return [*alphabet, *(a + b for a, b in merges)], merges


def _model(architecture: str, tokenizer: Any, n_labels: int) -> Any:
    import transformers as tr

    common: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_labels": n_labels,
        "pad_token_id": tokenizer.pad_token_id,
        "max_position_embeddings": 80,
    }
    if architecture == "bert":
        return tr.BertForSequenceClassification(tr.BertConfig(**common))
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    if architecture == "roberta":
        return tr.RobertaForSequenceClassification(tr.RobertaConfig(**common, **ids, type_vocab_size=1))
    if architecture == "xlm-roberta":
        return tr.XLMRobertaForSequenceClassification(tr.XLMRobertaConfig(**common, **ids, type_vocab_size=1))
    if architecture == "deberta-v2":
        disentangled = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "share_att_key": True}
        more = {
            "position_biased_input": False,
            "norm_rel_ebd": "layer_norm",
            "position_buckets": 16,
            "type_vocab_size": 0,
        }
        return tr.DebertaV2ForSequenceClassification(tr.DebertaV2Config(**common, **disentangled, **more))
    ids = {"cls_token_id": tokenizer.cls_token_id, "sep_token_id": tokenizer.sep_token_id}
    ids |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    more = {"local_attention": 8, "global_attn_every_n_layers": 2}
    return tr.ModernBertForSequenceClassification(tr.ModernBertConfig(**common, **ids, **more))


def plain_probabilities(folder: Path, pairs: list[tuple[str, str]], *, max_length: int | None = None) -> Any:
    """Softmax of a plain float32 forward, one pair at a time, shape (n, labels); all fast implementations return it."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    rows = []
    with torch.no_grad():
        for a, b in pairs:
            limits = {"truncation": "longest_first", "max_length": max_length} if max_length else {"truncation": True}
            rows.append(model(**tokenizer(a, b, return_tensors="pt", **limits)).logits.softmax(-1)[0])
    return torch.stack(rows).double().numpy()
