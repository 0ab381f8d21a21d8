"""The methods, models and texts that ``python -m lab.bench inference`` compares."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.measures.labels import letter_of

BUNDLED = "bundled"
"""Name of the model that comes with softirr."""
_WORDS = """
acute chronic recurrent congenital bilateral left right upper lower distal proximal abnormal decreased increased
absent delayed mild severe progressive idiopathic hereditary secondary focal diffuse cardiac renal hepatic pulmonary
cerebral cutaneous skeletal ocular gastrointestinal haematological metabolic neonatal morphology hypoplasia
hyperplasia atrophy stenosis dysplasia carcinoma fibrosis hyperkeratosis osteomyelitis thrombocytopenia cardiomyopathy
hypertension insufficiency infarction haemorrhage neuropathy myopathy oedema effusion fracture fever cough pain rash
ulcer cyst nodule of the with without and in phalanx vertebra femur radius humerus aorta ventricle valve cornea retina
palate tooth nail hair skin muscle tendon nerve marrow lymphocyte erythrocyte concentration creatinine potassium
"""
Run = Callable[[], NDArray[np.float64]]
"""Answers all pairs: probabilities, shape (pairs, labels)."""


def short_texts(n: int, seed: int = 0) -> list[str]:
    """Different terms with as many words as terms of the Human Phenotype Ontology.

    3.9 on average, standard deviation 2.3.
    """
    rng, texts, words = np.random.default_rng(seed), dict[str, None](), _WORDS.split()
    while len(texts) < n:
        word_indices = rng.integers(len(words), size=1 + rng.negative_binomial(3.35, 3.35 / (3.35 + 2.86)))
        texts[" ".join(words[i] for i in word_indices)] = None
    return list(texts)


def set_threads(threads: int) -> None:
    """Processor threads of this process; transformers prints nothing from now on."""
    import torch
    from transformers.utils import logging

    torch.set_num_threads(threads)
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def label_order(folder: Path) -> list[str]:
    """Meaning of a model's outputs by their names: letters as in :class:`softirr.meaning.measures.labels.LabelOrder`.

    Raises
    ------
    InputError
        If none is named entailment.
    """
    names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label") or {}
    letters = [letter_of(str(names[key])) for key in sorted(names, key=int)]
    if "e" not in letters:
        raise InputError(f"The model in {folder} has no output with the name entailment.")
    return letters


def pipeline_way(folder: Path, pairs: Sequence[tuple[str, str]], device: str) -> Run:
    """(a) The method of the code of Wullschleger et al. (2026).

    ``transformers.pipeline`` in batches of 32, in the order of the pairs.

    In float32, whatever format the weights are stored in: float16 is slow on a processor.
    """
    import torch
    from transformers import pipeline

    classify: Any = pipeline(
        "text-classification", model=str(folder), top_k=None, batch_size=32, device=device, dtype=torch.float32
    )
    inputs = [{"text": a, "text_pair": b} for a, b in pairs]
    order = {label: i for i, label in classify.model.config.id2label.items()}

    def run() -> NDArray[np.float64]:
        result = np.zeros((len(pairs), len(order)))
        for row, answers in enumerate(classify(inputs, truncation=True)):
            for answer in answers:
                result[row, order[answer["label"]]] = answer["score"]
        return result

    return run


def cross_encoder_way(folder: Path, pairs: Sequence[tuple[str, str]], device: str) -> Run:
    """(b) ``sentence_transformers.CrossEncoder.predict``, which sorts by length and pads; in float32, as (a)."""
    import torch
    from sentence_transformers import CrossEncoder

    encoder = CrossEncoder(str(folder), device=device, model_kwargs={"dtype": torch.float32})
    directed = list(pairs)

    def run() -> NDArray[np.float64]:
        return np.asarray(encoder.predict(directed, apply_softmax=True, show_progress_bar=False), dtype=np.float64)

    return run


def softirr_way(
    folder: Path, pairs: Sequence[tuple[str, str]], device: str, precision: str, threads: int
) -> tuple[Run, str]:
    """The scores by softirr, tokenizing included, and the number format it chose."""
    from softirr.inference.classifier import PairClassifier
    from softirr.inference.models import ClassifierOptions
    from softirr.inference.tokens import PairTokens

    classifier = PairClassifier(folder, ClassifierOptions(device=device, precision=precision, threads=threads))
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    number = {text: i for i, text in enumerate(texts)}
    first_index, second_index = (np.array([number[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    limit = classifier.max_length

    def run() -> NDArray[np.float64]:
        # a new run has tokenized nothing yet
        classifier.tokens = PairTokens(classifier.tokenizer, limit)
        logits = classifier.run(texts, first_index, second_index).logits.astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return result

    return run, classifier.precision
