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
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Floats, Ints
from softirr.meaning.measures.protocols import Measure, refuse_unknown
from softirr.provenance import Provenance

if TYPE_CHECKING:  # they import torch and openai
    from softirr.inference.causal import CausalModel
    from softirr.meaning.measures.chat_server import ServerModel

TASK = (
    "Two annotators described the same thing in free text. Decide whether the premise entails the hypothesis: "
    "if the premise is true, must the hypothesis be true as well? Different words for the same thing entail each "
    "other; the more specific entails the more general."
)
LOGPROB = f"{TASK} Answer with one word, yes or no.\n\nPremise: %s\nHypothesis: %s"
VERBALISED = (
    f'{TASK} Answer with a JSON object {{"probability": p}} and nothing else, where p is the probability, from 0 to 1, '
    "that the premise entails the hypothesis.\n\nPremise: %s\nHypothesis: %s"
)
_NUMBER = re.compile(r'["\']?probability["\']?\s*[:=]\s*["\']?([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)')


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

        for option in ("device", "precision"):
            if options.get(option) == "auto":
                del options[option]
        arguments: tuple[Any, ...] = (model,)
    else:
        from softirr.inference.causal import CausalModel as kind
        from softirr.inference.models import find_model

        arguments = (find_model(model, "llm"),)
    refuse_unknown(name, options, kind)
    return Judge(f"{name}:{model}", kind(*arguments, **options), verbalised=name == "llm-verbalised")


class Judge(Measure):
    """P(a ⇒ b) and P(b ⇒ a) from a language model.

    Parameters
    ----------
    name
        The name that the measure was requested by; credentials in it are removed.
    model
        The language model that answers.
    verbalised
        Whether the model writes the probability; otherwise its odds of yes against no are used.
    """

    has_directions = True
    may_fail = True
    chunk = 32
    """Number of pairs after which scores are stored, so that an interrupted run loses little work."""

    def __init__(self, name: str, model: CausalModel | ServerModel, *, verbalised: bool) -> None:
        super().__init__(re.sub(r"//[^/@]*@", "//", name))
        self._model, self._verbalised, self._template = model, verbalised, VERBALISED if verbalised else LOGPROB
        self._counts = {"failed": 0}  # shared with copies that have other stages

    @property
    def cache_key(self) -> str:
        """The model and the prompt."""
        return f"judge {self._model.key} {hashlib.sha256(self._template.encode()).hexdigest()}"

    def directions(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Floats:
        """Both directions, shape (n, 2); nan and counted if an answer could not be read."""
        prompts = [
            self._template % (_quoted(texts[i]), _quoted(texts[j]))
            for a, b in zip(left_texts.tolist(), right_texts.tolist(), strict=True)
            for i, j in ((a, b), (b, a))
        ]
        if self._verbalised:
            values = np.array([read_probability(answer) for answer in self._model.write(prompts)], dtype=np.float64)
        else:
            values = 1 / (1 + np.exp(-np.clip(self._model.yes_minus_no(prompts), -700, 700)))
        self._counts["failed"] += int(np.isnan(values).sum())
        return values.reshape(-1, 2)

    def describe(self) -> Provenance:
        """Model, device, number format and number of answers that could not be read."""
        return replace(self._model.describe(), measure=self.raw_name, failed_answers=self._counts["failed"])


def read_probability(answer: str) -> float:
    """The probability that an answer states; nan if it states none between 0 and 1.

    Examples
    --------
    >>> read_probability('{"probability": "0.85"}')
    0.85
    >>> read_probability("I am not sure.")
    nan
    """
    values = {float(number) / (100 if percent else 1) for number, percent in _NUMBER.findall(answer)}
    # several different statements count as no statement
    return next((value for value in values if len(values) == 1 and 0 <= value <= 1), math.nan)


def _quoted(text: str) -> str:
    """The text in quotes, with inner quotes escaped, so that its end is unambiguous."""
    return json.dumps(text, ensure_ascii=False)
