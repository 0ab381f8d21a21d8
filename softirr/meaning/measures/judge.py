"""A language model as a judge of entailment, log-prob and verbalised (Wullschleger et al. 2026).

Log-prob: P(a ⇒ b) = σ(l_yes - l_no), with l_t the log-probability that the model answers t; all spellings of a word
(``Yes``, `` yes``) are summed. Verbalised: the model writes the probability as JSON. Both directions are asked; P(a ≡
b) is their geometric mean. The model is a folder, hub name or short name, or the URL of an OpenAI-compatible server,
perhaps with the model's name behind it: ``llm-logprob:http://localhost:8000/v1#MODEL``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.measures.base_classes import BothDirections
from softirr.meaning.measures.pair_plan import PairPlan
from softirr.meaning.measures.protocols import Measure, Pairs, refuse_unknown
from softirr.provenance import Progress, Provenance

__all__ = ["LOGPROB", "VERBALISED", "Judge", "LanguageModel", "make", "read_probability"]

TASK = (
    "Two annotators described the same thing in free text. Decide whether the premise entails the hypothesis: if the premise is true, "
    "must the hypothesis be true as well? Different words for the same thing entail each other; the more specific entails the more general."
)
LOGPROB = f"{TASK} Answer with one word, yes or no.\n\nPremise: %s\nHypothesis: %s"
VERBALISED = (
    f'{TASK} Answer with a JSON object {{"probability": p}} and nothing else, where p is the probability, from 0 to 1, that the premise '
    "entails the hypothesis.\n\nPremise: %s\nHypothesis: %s"
)
_NUMBER = re.compile(r'["\']?probability["\']?\s*[:=]\s*["\']?([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)')


class LanguageModel(Protocol):
    """A chat model in this process or on a server."""

    @property
    def key(self) -> str:
        """Everything besides the prompt that its answers depend on."""
        ...

    def describe(self) -> Provenance:
        """Name, hash, device and number format; the caller adds the measure's name."""
        ...

    def yes_minus_no(self, prompts: Sequence[str], done: Callable[[int], None]) -> NDArray[np.float64]:
        """l_yes - l_no of each prompt's answer, shape (n,); nan where the answer is neither.

        `done` gets the number of finished prompts.
        """
        ...

    def write(self, prompts: Sequence[str], done: Callable[[int], None]) -> list[str]:
        """The greedily decoded answer to each prompt."""
        ...


def make(name: str, model: str | None = None, **options: Any) -> Measure:
    """Make the judge with a name and a model.

    Parameters
    ----------
    name : str
        ``llm-logprob`` or ``llm-verbalised``.
    model : str
        Folder, hub name, short name (``medgemma-4b``, ``qwen3.5-9b``) or server URL.
    **options
        As for :class:`softirr.inference.causal.CausalModel` or, behind a URL, of
        :class:`softirr.meaning.measures.chat_server.ServerModel`.

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        If no model is named, it can't be used, or an option is not known.
    """
    if model is None:
        raise InputError(
            f"The measure {name} needs a model behind a colon: a folder, medgemma-4b, qwen3.5-9b or a server's URL."
        )
    if options.pop("engine", "local") != "local":
        raise InputError("Language models run on the engine local; to use several machines, name a server's URL.")
    kind: Any
    if re.match(r"https?://", model):
        from softirr.meaning.measures.chat_server import ServerModel as kind

        options = {
            key: value
            for key, value in options.items()
            if (key, value) not in (("device", "auto"), ("precision", "auto"))
        }
        arguments: tuple[Any, ...] = (model,)
    else:
        from softirr.inference.causal import CausalModel as kind
        from softirr.inference.models import find_model

        arguments = (find_model(model, "llm"),)
    refuse_unknown(name, options, kind)
    return Judge(f"{name}:{model}", kind(*arguments, **options), verbalised=name == "llm-verbalised")


class Judge(BothDirections):
    """P(a ⇒ b), P(b ⇒ a) and their geometric mean from a language model.

    Parameters
    ----------
    name
        The name that the measure was requested by.
    model
        The language model that answers.
    verbalised
        Whether the model writes the probability; otherwise its odds of yes against no are used.
    """

    chunk = 256
    """Pairs after which a :class:`softirr.meaning.measures.pairs.PairScorer` stores the scores, so that an interrupted run loses little work."""

    def __init__(self, name: str, model: LanguageModel, *, verbalised: bool) -> None:
        self._name, self._model, self._verbalised = name, model, verbalised
        self._failed = 0

    @property
    def name(self) -> str:
        """The name that the measure was requested by, without credentials."""
        return re.sub(r"//[^/@]*@", "//", self._name)

    @property
    def cache_key(self) -> str:
        """The model and the prompt."""
        prompt = VERBALISED if self._verbalised else LOGPROB
        return f"judge {self._model.key} {hashlib.sha256(prompt.encode()).hexdigest()}"

    def entail_both(self, pairs: Pairs) -> NDArray[np.float64]:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2); 0 where an answer could not be read."""
        return self.entail_checked(pairs)[0]

    def entail_checked(
        self, pairs: Pairs, *, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Both directions, shape (n, 2), and which pairs have two readable answers, shape (n,).

        Unreadable ones are 0 and counted.
        """
        plan = PairPlan.of(pairs)
        m = len(plan.low)

        def done(count: int) -> None:
            if progress is not None:
                progress(count // 2, m)

        first, second = np.stack([plan.low, plan.high], axis=1).ravel(), np.stack([plan.high, plan.low], axis=1).ravel()
        template = VERBALISED if self._verbalised else LOGPROB
        prompts = [
            template % (_quoted(plan.texts[i]), _quoted(plan.texts[j]))
            for i, j in zip(first.tolist(), second.tolist(), strict=True)
        ]
        values = self._answers(prompts, done).reshape(m, 2)
        readable = ~np.isnan(values)
        self._failed += int((~readable).sum())
        sound = plan.spread_flags(np.logical_and(readable[:, 0], readable[:, 1]), same=True)
        return plan.spread(np.where(readable, values, 0.0)), sound

    def _answers(self, prompts: Sequence[str], done: Callable[[int], None]) -> NDArray[np.float64]:
        """P(premise ⇒ hypothesis) of each prompt, shape (n,); nan where the answer could not be read."""
        if not prompts:
            return np.zeros(0, dtype=np.float64)
        if self._verbalised:
            return np.array([read_probability(answer) for answer in self._model.write(prompts, done)], dtype=np.float64)
        odds: NDArray[np.float64] = np.clip(self._model.yes_minus_no(prompts, done), -700, 700)
        return 1 / (1 + np.exp(-odds))

    def provenance(self) -> Provenance:
        """Model, device, number format and answers that could not be read so far."""
        return replace(self._model.describe(), measure=self.name, failed_answers=self._failed)


def read_probability(answer: str) -> float:
    """The probability that an answer states, nan where it states none between 0 and 1.

    Parameters
    ----------
    answer : str

    Returns
    -------
    float

    Examples
    --------
    >>> read_probability('{"probability": "0.85"}')
    0.85
    >>> read_probability("I am not sure.")
    nan
    """
    values = []
    for number, percent in _NUMBER.findall(answer):
        values.append(float(number) / (100 if percent else 1))
    # several different statements count as no statement
    if len(set(values)) != 1 or not math.isfinite(values[0]) or not 0 <= values[0] <= 1:
        return math.nan
    return values[0]


def _quoted(text: str) -> str:
    """The text in quotes, with inner quotes escaped, so that its end is unambiguous."""
    return json.dumps(text, ensure_ascii=False)
