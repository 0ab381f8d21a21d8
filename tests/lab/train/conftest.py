"""A toy terminology, a toy WordNet, a tiny model: everything that training needs, made on the spot."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any

import pytest

from lab.train.recipe import EnglishFiles
from lab.train.sources import Sources, gather

ORGANS = (
    "kidney",
    "liver",
    "heart",
    "lung",
    "brain",
    "skin",
    "bone",
    "eye",
    "ear",
    "nose",
    "tongue",
    "stomach",
    "tooth",
)
FINDINGS = ("pain", "cancer", "cyst", "injury", "swelling", "ulcer", "infection", "scar")


def gathered(*terminologies: Path, **files: Any) -> Sources:
    """The sources of terminologies and other files, by the names of :class:`EnglishFiles`."""
    file_names = {name: tuple(map(str, value)) if isinstance(value, list) else value for name, value in files.items()}
    return gather(EnglishFiles(terminology=tuple(map(str, terminologies)), **file_names))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A terminology: findings of organs, each in four wordings, below the organ's and the finding's own concept."""
    folder = tmp_path_factory.mktemp("toy") / "toyterms"
    concepts, synonyms, is_a = [], [], []
    for kind, words in (("o", ORGANS), ("f", FINDINGS)):
        for k, word in enumerate(words):
            concepts.append((f"{kind}{k}", f"{word} disease" if kind == "o" else word))
            synonyms.append((f"{kind}{k}", f"disease of the {word}" if kind == "o" else f"any {word}", "EXACT"))
    for (i, organ), (j, finding) in itertools.product(enumerate(ORGANS), enumerate(FINDINGS)):
        key = f"o{i}f{j}"
        concepts.append((key, f"{organ} {finding}"))
        synonyms += [(key, f"{finding} of the {organ}", "EXACT"), (key, f"{finding} in the {organ}", "EXACT")]
        synonyms += [(key, f"small {finding} of the {organ}", "NARROW"), (key, f"problem with the {organ}", "BROAD")]
        is_a += [(key, f"o{i}"), (key, f"f{j}")]
    write(folder / "concepts.tsv", "\n".join(["id\tname", *("\t".join(row) for row in concepts)]) + "\n")
    write(folder / "synonyms.tsv", "\n".join(["id\tsynonym\tscope", *("\t".join(row) for row in synonyms)]) + "\n")
    write(folder / "is_a.tsv", "\n".join(["child\tparent", *("\t".join(row) for row in is_a)]) + "\n")
    return folder


OTHER_WORDS = "disease disorder of the in any small problem with no without left right severe mild"
WORDS = (*ORGANS, *FINDINGS, *OTHER_WORDS.split())
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789,.-/()"
TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS, *(f"##{c}" for c in LETTERS))


def _tokenizer(tokens: tuple[str, ...]):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertTokenizerFast

    index = {token: k for k, token in enumerate(dict.fromkeys(tokens))}
    backend = Tokenizer(models.WordPiece(index, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", index["[SEP]"]), ("[CLS]", index["[CLS]"]))
    return BertTokenizerFast(tokenizer_object=backend, model_max_length=64), index


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained BERT of four small layers with a tokenizer of a few words, letters and word parts."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer, index = _tokenizer(TOKENS)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(index),
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.1,
        max_position_embeddings=64,
    )
    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


SYNSETS = """synset\tlexfile\tpos\tlemmas\thypernyms\tdefinition
1-n\tnoun.state\tn\tillness|unwellness\t\timpairment of normal function (of a body); a state
2-n\tnoun.state\tn\tflu|influenza|grippe\t1-n\tan acute febrile highly contagious viral disease
3-n\tnoun.state\tn\tcommon_cold|cold\t1-n\ta mild viral infection of the nose
4-n\tnoun.artifact\tn\tcot|crib\t\ta baby bed with high sides
5-n\tnoun.person\tn\tGalen\t\tan anatomist
"""


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toynet")
    (folder / "synsets.tsv.gz").write_bytes(gzip.compress(SYNSETS.encode()))
    write(folder / "antonyms.tsv", "lemma\tpos\tsynset\tantonym_sense\nhot\ta\t9\tcold%3:00:01::\n")
    return folder


@pytest.fixture(scope="module")
def sources(toy, wordnet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    nli = write(
        folder / "nli.tsv",
        "premise\thypothesis\tlabel\na man sleeps\ta person sleeps\tentailment\na man sleeps\the runs\tcontradiction\n",
    )
    judged = write(
        folder / "sheet.csv",
        'unit,pair,text_a,text_b,judgement\n1,1,"pain, chest",chest pain,same\n1,2,cough,cold,different\n2,1,a,b,\n',
    )
    short = write(folder / "short.tsv", SHORT)
    return gathered(
        toy,
        wordnet=str(wordnet),
        labeled=[nli, judged],
        abbreviations=[short],
        development=0.2,
    )


SHORT = """short_form\tlong_form\tinventory\tfrequency
MI\tmyocardial infarction\tnotes\t0.95
MI\tmitral insufficiency\tnotes\t0.05
MS\tmultiple sclerosis\tlist\t
MS\tmorphine sulfate\tlist\tunknown
MS\tmorphine sulphate\tlist\t
RA\trheumatoid arthritis\tlist\t
"""

PLAIN = """
[start]
folder = "{start}"

[english]
terminology = ["{toy}"]
word_lists = 0
development = 0.1

[[training]]
name = "only"
pairs = 4096
rounds = 2
chunk = 512
batch = 32
rate = 0.005
layer_decay = 1.0
average = 0.97
development = 80

[finish]
mean = ["only"]
"""
"""Recipe of one training on a toy terminology."""
