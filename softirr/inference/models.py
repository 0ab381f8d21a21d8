"""Finding a model by short name, hub name or folder, hashing its content, and the options for running it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.lexicon import rows

_TOKENIZER_FILE = re.compile(
    r"tokenizer|vocab|merges|special_tokens|added_tokens|spiece|sentencepiece|spm|chat_template"
)
_SETTINGS_FILE = re.compile(r"(^|/)(config|modules|config_sentence_transformers|sentence_bert_config)\.json$")
PRECISIONS = ("auto", "int8", "float32", "bfloat16", "float16")


@dataclass(frozen=True)
class KnownModel:
    """A model with a short name and a pinned revision, so that the name always means the same weights."""

    short: str
    family: str
    hub: str
    revision: str
    size: str


KNOWN_MODELS = tuple(KnownModel(*cells) for cells in rows("known_models", "softirr.inference"))

_ALLOWED = ["*.json", "*.txt", "*.model", "*.safetensors", "*.jinja", "merges.txt", "*.spm"]


@dataclass(frozen=True)
class FoundModel:
    """A model on this machine.

    Attributes
    ----------
    name
        Name in results: the hub name, or the folder as given.
    folder
        Folder with its files.
    hub
        Its hub name when it came from the hub (only then its published label order can be trusted), else None.
    """

    name: str
    folder: Path
    hub: str | None = None

    def content_hash(self) -> str:
        """SHA-256 of everything that determines the model's scores.

        Weights, configuration and tokenizer, by file name and content.

        Where a folder has both safetensors and pickled weights, only the former count, because only they are loaded.

        Returns
        -------
        str
            64 hexadecimal digits.
        """
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and ".cache" not in path.parts)
        names = [path.relative_to(self.folder).as_posix() for path in files]
        safe = any(name.endswith(".safetensors") for name in names)
        total = hashlib.sha256()
        for path, name in zip(files, names, strict=True):
            if name.endswith((".safetensors", ".bin")):
                if safe and name.endswith(".bin"):
                    continue
            elif not (_SETTINGS_FILE.search(name) or _TOKENIZER_FILE.search(name)):
                continue
            with path.open("rb") as stream:
                total.update(f"{name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\0".encode())
        return total.hexdigest()

    def stated_hash(self) -> str:
        """SHA-256 of the weights of a bundled model, as ``training.json`` states it, without reading the weights."""
        return str(json.loads((self.folder / "training.json").read_text(encoding="utf-8"))["weights_sha256"])


def find_model(model: str, family: str) -> FoundModel:
    """Find a model by folder, short name or hub name; hub models are downloaded once, at their pinned revision.

    Parameters
    ----------
    model : str
        Folder, short name or hub name.
    family : str
        ``nli``, ``embedding`` or ``llm``: the short names to look among.

    Raises
    ------
    InputError
        If the model is neither a folder nor on the hub, or the hub cannot be reached.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise InputError(f"The folder {model} contains no model: name the folder that contains config.json.")
        return FoundModel(model, folder)
    pinned = next((k for k in KNOWN_MODELS if k.family == family and model.lower() in (k.short, k.hub.lower())), None)
    hub, _, revision = (f"{pinned.hub}@{pinned.revision}" if pinned else model).partition("@")
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", hub) or hub.startswith((".", "/")):
        raise InputError(f"There is no model folder {model}; check the path.")
    return FoundModel(hub, _download(hub, revision or None), hub)


def _download(hub: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError
    from huggingface_hub.utils import logging

    level = logging.get_verbosity()
    # suppress messages about repeated attempts: the outcome is reported in one sentence
    logging.set_verbosity(logging.CRITICAL)
    try:
        folder = Path(snapshot_download(hub, revision=revision, allow_patterns=_ALLOWED))
    except RepositoryNotFoundError as error:
        raise InputError(f"There is no folder {hub} here and no model {hub} on the hub; check the name.") from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError, ValueError) as error:
        raise InputError(
            f"There is no folder {hub} here, and the model {hub} could not be downloaded from the hub; "
            "check name and network, or name the folder of a copy."
        ) from error
    finally:
        logging.set_verbosity(level)
    if not any(folder.rglob("*.safetensors")):
        raise InputError(
            f"The model {hub} has no weights as safetensors in this revision, and others can run code: "
            f"name a revision that has them, such as {hub}@refs/pr/1 if the hub's converter made one."
        )
    return folder


def bundled(name: str) -> FoundModel | None:
    """A bundled model, ``nli`` for English or ``multilingual``; None if this installation lacks it."""
    folder = Path(str(resources.files("softirr").joinpath("models", name)))
    return FoundModel(f"bundled {name}", folder) if (folder / "config.json").is_file() else None


def bundled_model() -> FoundModel:
    """The entailment model that comes with softirr, for English.

    Raises
    ------
    InputError
        If this installation has none.
    """
    model = bundled("nli")
    if model is None:
        raise InputError(
            "The bundled entailment model is not installed; name one behind a colon instead, such as nli:FOLDER, "
            "nli:pubmedbert or another name on the model hub."
        )
    return model


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions:
    """Options of a classifier: how and where to run it, and how to read its outputs.

    Attributes
    ----------
    device
        ``auto`` (a GPU where there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    precision
        ``float32``, ``bfloat16``, ``float16`` (GPUs), ``int8`` (BERT-like models on processors with 8-bit products) or
        ``auto``: on a GPU bfloat16, else float16, on a processor the fastest it has, if the probabilities of the check
        pairs move by at most 0.003 (root mean square), else float32.
    max_length
        Most tokens of a pair; the model's own limit by default.
    token_budget
        Tokens of a batch.
    threads
        Processor threads; as many as torch uses by default.
    label_order
        Meaning of the outputs, such as ``"c,n,e"``; detected when None.
    engine
        ``local``, or ``ray`` to spread the pairs over a Ray cluster (the extra ``softirr[ray]``).
    workers
        Number of Ray workers; when None, one for each GPU, else one for each processor of the cluster.
    """

    device: str = "auto"
    precision: str = "auto"
    max_length: int | None = None
    token_budget: int | None = None
    threads: int | None = None
    label_order: str | Sequence[str] | None = None
    engine: str = "local"
    workers: int | None = None
