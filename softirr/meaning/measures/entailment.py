"""Mutual entailment by a model of natural language inference (Wullschleger et al. 2026).

P(a ≡ b) = sqrt(P(a ⇒ b) P(b ⇒ a)). Any Hugging Face sequence classifier with an entailment class works: a folder, a hub
name (``name@revision`` pins it) or a short name. ``nli`` alone is the bundled model: one for English, and one for pairs
in other languages, which is loaded when the first such pair comes. Texts of several sentences are compared sentence by
sentence (:mod:`softirr.meaning.measures.sentences_stage`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.models import ClassifierOptions, FoundModel, bundled, bundled_model, find_model
from softirr.meaning.measures.arrays import Bools, Floats, Ints
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.engines import ByLanguage, OpenedLater, open_engine, runs_on_processor
from softirr.meaning.measures.labels import given_order, resolve, stated
from softirr.meaning.measures.languages import BOUND, ENGLISH_TEST, EnglishTest
from softirr.meaning.measures.protocols import Measure, refuse_unknown
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.suitability import pairs_across_scripts
from softirr.provenance import Provenance

_LABELS = "?labels="


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """Make the entailment measure of a model.

    Parameters
    ----------
    name : str
        ``nli``.
    model : str, optional
        Folder, hub name or short name, optionally followed by the order of its outputs: ``FOLDER?labels=c,n,e``; None
        is the bundled model.
    **options
        ``label_order`` (or ``labels``), ``device``, ``precision``, ``max_length``, ``token_budget``, ``threads``,
        ``engine``, ``workers``: see :class:`ClassifierOptions`. With ``by_sentence=False``, paragraphs are read at
        once, as in the paper.

    Raises
    ------
    InputError
        If the model can't be found or used, or an option is not known.
    """
    refuse_unknown(name, options, ClassifierOptions, also=("labels", "by_sentence"))
    by_sentence = options.pop("by_sentence", True)
    if "labels" in options:
        options["label_order"] = options.pop("labels")
    if model is None:
        result = Entailment(name, bundled_model(), ClassifierOptions(**options), multilingual=bundled("multilingual"))
    else:
        path, mark, order = model.partition(_LABELS)
        if mark:
            options.setdefault("label_order", order)
        result = Entailment(f"{name}:{model}", find_model(path, "nli"), ClassifierOptions(**options))
    return result.with_stage(Sentences()) if by_sentence else result


class Entailment(Measure):
    """P(a ⇒ b) and P(b ⇒ a) from a sequence classifier.

    Parameters
    ----------
    name
        The name that the measure was requested by.
    located
        The model.
    options
        How to run the classifier and read its outputs.
    multilingual
        A second model with the same outputs, for pairs that are not English.
    """

    has_directions = True
    is_cached = True

    def __init__(
        self, name: str, located: FoundModel, options: ClassifierOptions, *, multilingual: FoundModel | None = None
    ) -> None:
        super().__init__(name)
        self._located, self._multilingual, self._options = located, multilingual, options
        self._sha256 = located.content_hash()
        self._first = OpenedLater(partial(open_engine, located.folder), options)
        self._engine: Any = self._first
        self._waits = multilingual is not None and _can_wait(options)
        if self._waits:
            config = json.loads((located.folder / "config.json").read_text(encoding="utf-8"))
            id2label = {int(number): label for number, label in config["id2label"].items()}
        else:
            id2label = self._first.opened().id2label
        stated_labels = None
        if multilingual is not None:
            second = OpenedLater(partial(open_engine, multilingual.folder), options)
            self._engine = ByLanguage(self._first, second, EnglishTest(multilingual.folder / ENGLISH_TEST).score, BOUND)
            stated_labels = stated(len(id2label), id2label, None)  # the labels of the bundled models, which tests check
        if options.label_order is not None:
            self.labels = given_order(options.label_order, len(id2label))
        else:
            self.labels = stated_labels or resolve(len(id2label), id2label, located.hub, self._logits, located.name)
        self._counts = {"truncated": 0}  # shared with copies that have other stages

    @property
    def cache_key(self) -> str:
        """Content of the model, number format, meaning of the outputs and length limit."""
        precision, max_length, _ = self._first.format()
        second = "" if self._multilingual is None else f" {self._multilingual.stated_hash()} by script and symbol"
        return f"nli {self._sha256}{second} {precision} {self.labels.entailment} {max_length}"

    def recall(self, cache: PairCache) -> None:
        """Take the number format of the bundled model from the cache, so that it is opened for new pairs only."""
        if self._waits:
            self._first.recall(cache, f"{self._sha256} {self._options}")

    @property
    def chunk(self) -> int:
        """Number of pairs to request at once, enough for every thread, GPU or worker."""
        return self._first.opened().batch // 2

    def directions(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2); both directions of a pair are computed together.

        With the bundled models, they are 0 for texts in different scripts or with different symbols.
        """
        is_read: Bools = np.ones(len(left_texts), dtype=bool)
        if self._multilingual is not None:
            is_read = ~pairs_across_scripts(texts, left_texts, right_texts)
        a, b = left_texts[is_read], right_texts[is_read]
        outputs = self._engine.run(texts, np.stack([a, b], axis=1).ravel(), np.stack([b, a], axis=1).ravel())
        self._counts["truncated"] += int(outputs.truncated.reshape(-1, 2).any(axis=1).sum())
        result = np.zeros((len(left_texts), 2), dtype=np.float64)
        result[is_read] = self._entailment(outputs.logits).reshape(-1, 2)
        return result

    def describe(self) -> Provenance:
        """Model, device, number format, meaning of the outputs and number of pairs that were cut.

        Both bundled models are named, whether or not a pair needed the second one: the cache may have its score.
        """
        second = self._multilingual
        precision, _, device = self._first.format()
        return Provenance(
            measure=self.raw_name,
            model=self._located.name + ("" if second is None else f", {second.name}"),
            model_sha256=self._sha256 + ("" if second is None else f", {second.stated_hash()}"),
            device=device,
            truncated_texts=self._counts["truncated"],
            precision=precision,
            label_order=str(self.labels),
        )

    def close(self) -> None:
        """Stop the worker processes."""
        self._engine.close()

    def _entailment(self, outputs: NDArray[np.float32]) -> Floats:
        """P(premise ⇒ hypothesis) from logits."""
        logits = outputs.astype(np.float64)
        if not np.isfinite(logits).all():
            raise InputError(
                f"The model {self._located.name} returned outputs that are not numbers; try precision float32."
            )
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(weights[:, self.labels.entailment] / weights.sum(axis=1))

    def _logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        texts = [text for pair in pairs for text in pair]
        even = np.arange(0, len(texts), 2)
        return np.asarray(self._engine.run(texts, even, even + 1).logits)


def _can_wait(options: ClassifierOptions) -> bool:
    """Whether the bundled model is opened when it is needed: with these options nothing can be wrong with it."""
    if find_spec("torch") is None:
        raise ModuleNotFoundError("PyTorch is not installed.", name="torch")
    usual = ClassifierOptions(device=options.device, label_order=options.label_order, threads=options.threads)
    return runs_on_processor(options) and options == usual
