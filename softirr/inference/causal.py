"""A local chat model run with transformers: odds of yes against no, and greedy answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from softirr.errors import InputError
from softirr.inference.loading import WRITER, Batches, load, pick_device, pick_precision
from softirr.inference.models import FoundModel
from softirr.provenance import Provenance

_BUDGET = {"cpu": 2048, "cuda": 32_768}
_LONGEST_ANSWER = 48
"""Most tokens of a written answer: a JSON object with one number needs about ten."""


class CausalModel:
    """A causal language model with its tokenizer.

    Prompts use the chat template with thinking disabled; for odds, the answer starts with `prefill`, so that the next
    token is the answer. Tokenizers without a template get the prompt alone.

    Parameters
    ----------
    located
        The model.
    device
        As in :class:`softirr.inference.models.ClassifierOptions`.
    precision
        ``float32``, ``bfloat16`` or ``auto``: bfloat16 on a GPU, else float32.
    prefill
        Start of the answer before its yes or no.
    token_budget
        Tokens of a batch.

    Raises
    ------
    InputError
        If the folder contains no causal language model, or its vocabulary has no token for yes or for no.
    """

    def __init__(
        self,
        located: FoundModel,
        *,
        device: str = "auto",
        precision: str = "auto",
        prefill: str = "Answer:",
        token_budget: int | None = None,
    ) -> None:
        self._located, self._prefill = located, prefill
        self._device = pick_device(device)
        self._precision = pick_precision(precision, self._device, "Local language models")
        self._tokenizer, model = load(located.folder, WRITER, getattr(torch, self._precision))
        self._model = model.to(self._device)
        tokens = (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
        self._pad = int(next(token for token in tokens if token is not None))
        self._sha256 = located.content_hash()
        self._batches = Batches(
            token_budget or _BUDGET.get(self._device.type, 2048),
            "There is not enough memory for a single prompt; use a smaller model or a server.",
        )
        special = {*self._tokenizer.all_special_tokens, *self._tokenizer.get_added_vocab()}
        self._special = sorted(filter(str.strip, special), key=len, reverse=True)
        self._yes, self._no = (torch.tensor(ids, device=self._device) for ids in self._variants())

    @property
    def key(self) -> str:
        """Content of the model, number format and start of the answer."""
        return f"{self._sha256} {self._precision} {self._prefill!r}"

    def describe(self) -> Provenance:
        """Name, hash, device and number format."""
        return Provenance(
            measure="",
            model=self._located.name,
            model_sha256=self._sha256,
            device=str(self._device),
            precision=self._precision,
        )

    def yes_minus_no(self, prompts: Sequence[str]) -> NDArray[np.float64]:
        """l_yes - l_no of each prompt, shape (n,): differences of log-probabilities summed over all spellings."""
        odds = np.zeros(len(prompts), dtype=np.float64)

        def run(ids: Tensor, mask: Tensor, where: list[int]) -> None:
            positions = (mask.cumsum(dim=1) - 1).clamp_min(0)
            logits = self._model(input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=1).logits
            log_p = logits[:, -1].double().log_softmax(dim=-1)
            odds[where] = (log_p[:, self._yes].logsumexp(-1) - log_p[:, self._no].logsumexp(-1)).cpu().numpy()

        self._run([self._chat(prompt) + self._prefill for prompt in prompts], 1, run)
        return odds

    def write(self, prompts: Sequence[str]) -> list[str]:
        """The greedy answer to each prompt."""
        answers = [""] * len(prompts)

        def run(ids: Tensor, mask: Tensor, where: list[int]) -> None:
            tokens = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=False,
                max_new_tokens=_LONGEST_ANSWER,
                pad_token_id=self._pad,
                temperature=None,
                top_p=None,
                top_k=None,
            )
            texts = self._tokenizer.batch_decode(tokens[:, ids.shape[1] :], skip_special_tokens=True)
            for index, text in zip(where, texts, strict=True):
                answers[index] = text

        self._run([self._chat(prompt) for prompt in prompts], _LONGEST_ANSWER, run)
        return answers

    def _chat(self, prompt: str) -> str:
        """The prompt as the model expects it.

        Control tokens in annotations are split, so that no text can end the user's message.
        """
        for token in self._special:
            if token in prompt:
                prompt = prompt.replace(token, f"{token[0]} {token[1:]}")
        if not self._tokenizer.chat_template:
            return prompt + "\n"
        chat: str = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return chat

    def _variants(self) -> tuple[list[int], list[int]]:
        """Ids of every token that spells yes, and no, whatever its case and the space before it."""
        size = min(len(self._tokenizer), int(self._model.get_output_embeddings().weight.shape[0]))
        words = [text.strip().casefold() for text in self._tokenizer.batch_decode([[i] for i in range(size)])]
        yes, no = ([i for i, text in enumerate(words) if text == word] for word in ("yes", "no"))
        if not yes or not no:
            raise InputError(f"The vocabulary of the model {self._located.name} has no token for yes or for no.")
        return yes, no

    def _run(self, chats: list[str], extra: int, run: Callable[[Tensor, Tensor, list[int]], None]) -> None:
        # templates write the first special token themselves; bare prompts leave it to the tokenizer
        special = not self._tokenizer.chat_template
        encoded = self._tokenizer(chats, add_special_tokens=special, verbose=False)["input_ids"]

        def work(where: list[int]) -> None:
            # padded on the left: the answer follows the last token of every row
            longest = max(len(encoded[i]) for i in where)
            rows = [[self._pad] * (longest - len(encoded[i])) + encoded[i] for i in where]
            masks = [[0] * (longest - len(encoded[i])) + [1] * len(encoded[i]) for i in where]
            with torch.inference_mode():
                run(torch.tensor(rows, device=self._device), torch.tensor(masks, device=self._device), where)

        self._batches.run([len(ids) + extra for ids in encoded], work)
