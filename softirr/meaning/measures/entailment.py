"""Mutual entailment: P(a ≡ b) = sqrt(P(a ⇒ b) P(b ⇒ a)) by a natural language inference model (Wullschleger et al. 2026).

Any Hugging Face sequence classifier with an entailment class works: a folder, a hub name (``name@revision`` pins it) or
a short name. ``nli`` alone is the bundled model. Texts of several sentences are compared sentence by sentence
(:mod:`softirr.meaning.measures.sentence_entailment`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.models import FoundModel, bundled_model, content_hash, find_model
from softirr.meaning.measures.base_classes import BothDirections
from softirr.meaning.measures.labels import LabelOrder, given_order, resolve
from softirr.meaning.measures.pair_plan import PairPlan
from softirr.meaning.measures.protocols import CHUNK, Measure, Pairs, refuse_unknown
from softirr.meaning.measures.sentence_entailment import SentencePlan
from softirr.provenance import Progress, Provenance
from softirr.text import sentences

__all__ = ["Entailment", "make"]

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
        ``engine``, ``workers``, ``by_sentence``: see :class:`Entailment`.

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        If the model can't be found or used, or an option is not known.
    """
    refuse_unknown(name, options, Entailment, also=("labels",))
    if "labels" in options:
        options["label_order"] = options.pop("labels")
    if model is None:
        return Entailment(name, bundled_model(), **options)
    where, behind, order = model.partition(_LABELS)
    if behind:
        options.setdefault("label_order", order)
    return Entailment(f"{name}:{model}", find_model(where, "nli"), **options)


class Entailment(BothDirections):
    """P(a ⇒ b), P(b ⇒ a) and their geometric mean from a sequence classifier.

    Parameters
    ----------
    name
        The name that the measure was requested by.
    located
        The model.
    label_order
        Meaning of the outputs, such as ``"c,n,e"``; detected when None.
    device, precision, max_length, token_budget, threads
        See :class:`softirr.inference.classifier_options.ClassifierOptions`.
    engine
        ``local``, or ``ray`` to spread the pairs over a Ray cluster (the extra ``softirr[ray]``).
    workers
        Number of Ray workers; as many as the cluster has processors or GPUs for when None.
    by_sentence
        Whether texts of several sentences are compared sentence by sentence. False reads both texts at once, as the
        paper does.
    """

    def __init__(
        self,
        name: str,
        located: FoundModel,
        *,
        label_order: str | Sequence[str] | None = None,
        device: str = "auto",
        precision: str = "auto",
        max_length: int | None = None,
        token_budget: int | None = None,
        threads: int | None = None,
        engine: str = "local",
        workers: int | None = None,
        by_sentence: bool = True,
    ) -> None:
        from softirr.inference.classifier_options import ClassifierOptions
        from softirr.inference.engines import open_engine

        options = ClassifierOptions(
            device=device, precision=precision, max_length=max_length, token_budget=token_budget, threads=threads
        )
        self._name, self._located, self._by_sentence = name, located, by_sentence
        self._engine = open_engine(Path(located.folder), options, engine=engine, workers=workers)
        self._sha256 = content_hash(located.folder)
        self.labels: LabelOrder = (
            given_order(label_order, self._engine.n_labels)
            if label_order is not None
            else resolve(self._engine.n_labels, self._engine.id2label, located.hub, self._logits, located.name)
        )
        self._truncated = 0

    @property
    def name(self) -> str:
        """The name that the measure was requested by."""
        return self._name

    @property
    def cache_key(self) -> str:
        """Content of the model, number format, meaning of the outputs, length limit, and whether paragraphs are compared by sentences."""
        engine = self._engine
        compared = " sentences, two nearest" if self._by_sentence else ""
        return f"nli {self._sha256} {engine.precision} {self.labels.entailment} {engine.max_length}{compared}"

    def entail(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) of (premise a, hypothesis b), shape (n,); the model scores this direction only."""
        plan = PairPlan.of(pairs)
        known = plan.wanted >= 0
        turned = plan.turned[known]
        directed, places = np.unique(plan.wanted[known] * 2 + turned, return_inverse=True)
        low, high, swap = plan.low[directed // 2], plan.high[directed // 2], directed % 2 == 1
        values, truncated = self._run(plan.texts, np.where(swap, high, low), np.where(swap, low, high), None)
        self._truncated += int(truncated.sum())
        result = np.ones(len(pairs), dtype=np.float64)
        result[known] = values[places]
        return result

    def entail_both(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2)."""
        return self.entail_checked(pairs)[0]

    def entail_checked(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Both directions, shape (n, 2), and which rows are valid, shape (n,): here all are."""
        plan = PairPlan.of(pairs)
        m = len(plan.low)
        halved = None if progress is None else lambda done, total: progress(done // 2, total // 2)
        values, truncated = self._run(
            plan.texts, np.concatenate([plan.low, plan.high]), np.concatenate([plan.high, plan.low]), halved
        )
        self._truncated += int((truncated[:m] | truncated[m:]).sum())
        return plan.spread(np.stack([values[:m], values[m:]], axis=1)), np.ones(len(pairs), dtype=bool)

    @property
    def chunk(self) -> int:
        """Best number of pairs to request at once: enough for every worker."""
        return max(CHUNK, getattr(self._engine, "batch", 0) // 2)

    def entail_parts(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]]:
        """As `entail_checked`, in parts: indices, shape (k,), both directions, shape (k, 2), and which are valid, shape (k,)."""
        stream = getattr(self._engine, "stream", None)
        if stream is None:
            values, sound = self.entail_checked(pairs, progress=progress)
            yield np.arange(len(pairs)), values, sound
            return
        plan = PairPlan.of(pairs)
        same = np.flatnonzero(plan.wanted < 0)
        if len(same):
            yield same, np.ones((len(same), 2)), np.ones(len(same), dtype=bool)
        # Both directions of a pair are adjacent, so that they are in one part.
        both = np.stack([plan.low, plan.high], axis=1)
        several = np.array([self._by_sentence and len(sentences(text)) > 1 for text in plan.texts], dtype=bool)
        paragraphs = np.flatnonzero(several[both].any(axis=1))
        if len(paragraphs):
            values, truncated = self._run(
                plan.texts, both[paragraphs].ravel(), both[paragraphs, ::-1].ravel(), progress
            )
            yield self._part(plan, paragraphs, values, truncated)
        others = np.setdiff1d(np.arange(len(both)), paragraphs)
        for where, outputs in stream(plan.texts, both[others].ravel(), both[others, ::-1].ravel()):
            yield self._part(plan, others[where[::2] // 2], self._entailment(outputs.logits), outputs.truncated)

    def _part(
        self, plan: PairPlan, done: NDArray[np.int64], values: NDArray[np.float64], truncated: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """A part of the answer: some unordered pairs of the plan, whose directions follow each other in `values`."""
        self._truncated += int(truncated.reshape(-1, 2).any(axis=1).sum())
        row = np.full(len(plan.low) + 1, -1, dtype=np.int64)  # the last entry is for identical texts
        row[done] = np.arange(len(done))
        places = np.flatnonzero(row[plan.wanted] >= 0)
        directions = values.reshape(-1, 2)[row[plan.wanted[places]]]
        turned = plan.turned[places]
        directions[turned] = directions[turned][:, ::-1]
        return places, directions, np.ones(len(places), dtype=bool)

    def provenance(self) -> Provenance:
        """Model, device, number format, meaning of the outputs, pairs that were cut so far."""
        return Provenance(
            measure=self._name,
            model=self._located.name,
            model_sha256=self._sha256,
            device=self._engine.device_name,
            truncated_texts=self._truncated,
            precision=self._engine.precision,
            label_order=str(self.labels),
        )

    def close(self) -> None:
        """Stop the worker processes, where there are any."""
        self._engine.close()

    def _run(
        self, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64], progress: Progress | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if not len(left):
            return np.zeros(0, dtype=np.float64), np.zeros(0, dtype=bool)
        plan = SentencePlan.of(texts, left, right) if self._by_sentence else None
        if plan is None:
            outputs = self._engine.run(texts, left, right, progress=progress)
            return self._entailment(outputs.logits), outputs.truncated
        n = len(left)
        scaled = None if progress is None else lambda done, total: progress(done * n // max(total, 1), n)
        outputs = self._engine.run(plan.texts, plan.left, plan.right, progress=scaled)
        return plan.combine(self._entailment(outputs.logits)), plan.cut(outputs.truncated)

    def _entailment(self, outputs: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(premise ⇒ hypothesis) from logits."""
        logits = outputs.astype(np.float64)
        if not np.isfinite(logits).all():
            raise InputError(
                f"The model {self._located.name} returned outputs that are not numbers; try precision float32."
            )
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: NDArray[np.float64] = weights[:, self.labels.entailment] / weights.sum(axis=1)
        return result

    def _logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        texts = [text for pair in pairs for text in pair]
        even = np.arange(0, len(texts), 2)
        return self._engine.run(texts, even, even + 1).logits
