"""A small chat model made on the spot, and an OpenAI-compatible HTTP server over it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

TEMPLATE = (
    "{% for m in messages %}<|user|>{{ m['content'] }}<|end|>{% endfor %}<|assistant|>"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
)
YES, NO = ("yes", "Yes", "Ġyes", "ĠYes"), ("no", "No", "Ġno", "ĠNo")


def make_chat_model(folder: Path) -> Path:
    """A two-layer causal model with a byte-level vocabulary that has four spellings of yes and of no."""
    import transformers as tr
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("y", "e"), ("ye", "s"), ("Y", "e"), ("Ye", "s"), ("n", "o"), ("N", "o"), ("Ġ", "yes"), ("Ġ", "Yes")]
    merges += [("Ġ", "no"), ("Ġ", "No")]
    tokens = list(dict.fromkeys([*alphabet, *(a + b for a, b in merges)]))
    core = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = tr.PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|end|>", pad_token="<|pad|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|assistant|>", "<think>", "</think>"]})
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(3)
    config = tr.Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = tr.Qwen3ForCausalLM(config)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def teach(folder: Path, prompts: list[str], answer: str) -> None:
    """Trains the model until it answers the prompts with a fixed text."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    rows = [tokenizer(chat(prompt) + answer + "<|end|>", add_special_tokens=False)["input_ids"] for prompt in prompts]
    length = len(tokenizer(answer + "<|end|>", add_special_tokens=False)["input_ids"])
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        loss = torch.zeros(())
        for row in rows:
            ids = torch.tensor([row])
            labels = ids.clone()
            labels[:, :-length] = -100
            loss = loss + model(input_ids=ids, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if loss.item() < 0.02 * len(rows):
            break
    model.save_pretrained(folder)


def chat(prompt: str) -> str:
    """The chat as the template writes it, thinking off."""
    return f"<|user|>{prompt}<|end|><|assistant|><think></think>"


@dataclass
class Behavior:
    """The server's behavior, and the requests that it got."""

    busy: int = 0
    knows_thinking: bool = True
    knows_max_tokens: bool = True
    logprobs: bool = True
    status: int | None = None
    answer: str | None = None
    delay: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0


def unsupported(behavior: Behavior, body: dict[str, Any]) -> str | None:
    """The server's refusal of a parameter that it does not know."""
    for is_known, name in (
        (behavior.knows_thinking, "chat_template_kwargs"),
        (behavior.knows_max_tokens, "max_tokens"),
    ):
        if not is_known and name in body:
            hint = "; use max_completion_tokens" if name == "max_tokens" else ""
            return f"Unsupported parameter: {name}{hint}"
    return None


def choice_of(tokenizer: Any, model: Any, body: dict[str, Any], behavior: Behavior) -> dict[str, Any]:
    """The model's first token, or the answer that the behavior sets."""
    with torch.no_grad():
        prompt = chat(body["messages"][0]["content"])
        ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
        log_p = model(input_ids=ids).logits[0, -1].log_softmax(-1)
    top = log_p.topk(body.get("top_logprobs", 1))
    listing = [
        {"token": tokenizer.decode([i]), "logprob": float(p)}
        for i, p in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]
    content = behavior.answer if behavior.answer is not None else listing[0]["token"]
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": content}}
    if body.get("logprobs") and behavior.logprobs:
        choice["logprobs"] = {"content": [{**listing[0], "top_logprobs": listing}]}
    return choice


def completion(tokenizer: Any, model: Any, behavior: Behavior, lock: threading.Lock) -> Any:
    """The reply to the present request."""
    from flask import jsonify, request

    body = request.get_json()
    with lock:
        behavior.requests.append(body)
        behavior.headers.append(dict(request.headers))
        busy = behavior.busy > 0
        behavior.busy -= 1
    time.sleep(behavior.delay)
    if behavior.status is not None:
        return jsonify({"error": "refused"}), behavior.status
    if busy:
        return jsonify({"error": "busy"}), 503, {"Retry-After": "0"}
    message = unsupported(behavior, body)
    if message is not None:
        return jsonify({"error": {"message": message}}), 400
    with lock:
        choice = choice_of(tokenizer, model, body, behavior)
    return jsonify({"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice]})


@contextmanager
def serve(folder: Path, behavior: Behavior, models: tuple[str, ...] = ("tiny",)) -> Iterator[str]:
    """An HTTP server with /v1/models and /v1/chat/completions over the model; gives its base URL."""
    from flask import Flask, jsonify
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from werkzeug.serving import make_server

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    app, lock, at_once = Flask("tiny"), threading.Lock(), [0]

    @app.get("/v1/models")
    def listed() -> Any:
        return jsonify({"object": "list", "data": [{"id": name, "object": "model"} for name in models]})

    @app.post("/v1/chat/completions")
    def complete() -> Any:
        with lock:
            at_once[0] += 1
            behavior.most_at_once = max(behavior.most_at_once, at_once[0])
        try:
            return completion(tokenizer, model, behavior, lock)
        finally:
            with lock:
                at_once[0] -= 1

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
