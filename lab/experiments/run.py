"""Measures with their labels, and the loop that scores projects under each measure, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.experiments.run_store import PopulationRow, RunStore
from lab.experiments.scoring import Chance, Scored, SharedScorer, score_table
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.sentences_stage import without_sentences

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many populations (or text pairs of one) are done, and how many there are."""


def silent(what: str, done: int, total: int) -> None:
    """No progress."""


@dataclass(frozen=True, eq=False)
class NamedMeasure:
    """A measure, its label in tables, and the key of its scores in the store."""

    label: str
    measure: Measure
    key: str

    @classmethod
    def of(cls, label_and_name: str, **options: object) -> NamedMeasure:
        """From ``NAME`` or ``LABEL=NAME``; a model folder gets the folder's name."""
        scorer = without_sentences(measure_by_name(split_label(label_and_name)[1], **options))
        return cls(label_of(label_and_name), scorer, measure_key(scorer))

    def prompts(self, scored: Scored) -> int:
        """Texts or text pairs that went through a model."""
        family, colon, _ = self.measure.name.partition(":")
        if family == "embedding":
            return scored.texts
        if self.measure.directional:
            return 2 * scored.pairs
        return scored.pairs if colon else 0


def split_label(label_and_name: str) -> tuple[str, str]:
    """Label (empty where none is given) and name of ``LABEL=NAME``.

    An equals sign in a model's path does not end a label.
    """
    label, equals, name = label_and_name.partition("=")
    return (label, name) if equals and ":" not in label else ("", label_and_name)


def measure_key(measure: Measure) -> str:
    """What scores depend on besides the texts: the family, and the content of a model, not its path."""
    family = measure.name.partition(":")[0]
    cache_key = measure.cache_key
    content = str(cache_key) if cache_key else measure.provenance().model_sha256
    return f"{family}:{content}" if content else measure.name


def label_of(label_and_name: str) -> str:
    """The label in tables of ``NAME`` or ``LABEL=NAME``."""
    label, name = split_label(label_and_name)
    if label.strip():
        return label.strip()
    family, colon, model = name.partition(":")
    if not colon:
        return family
    folders = [folder for folder in model.replace("\\", "/").split("/") if folder]
    last = folders[-1] if folders else model
    if last in ("model", "snapshot") and len(folders) > 1:
        last = folders[-2]
    return f"{family}:{last}"


def check_labels(measures: Sequence[NamedMeasure], store: RunStore) -> None:
    """Refuse two measures with one label, here or in the run folder: tables could not distinguish them."""
    labels = store.labels()
    for measure in measures:
        if labels.setdefault(measure.label, measure.key) != measure.key:
            raise InputError(f"Two measures have the same label, {measure.label}; give them labels with LABEL=NAME.")


@dataclass(frozen=True, eq=False)
class Project:
    """A table to score, its row in the store, and its truth."""

    row: PopulationRow
    table: AnnotationTable
    truth: Scored


def score_missing(
    projects: Sequence[Project],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    what: str,
    chance: Callable[[NamedMeasure], Chance],
    *,
    cache: PairCache | None = None,
    progress: Progress = silent,
) -> None:
    """Score what the store does not have yet of projects that share texts.

    Parameters
    ----------
    store : RunStore
        Gets each project as soon as it is scored.
    what : str
        Name of the projects for the progress.
    chance : callable
        How agreement by chance is computed under a measure.
    cache : PairCache, optional
        Keeps a model's scores of text pairs beyond this run.
    """
    for project in projects:
        store.put_population(project.row, project.truth)
    for measure in measures:
        label = f"{what}, {measure.label}"
        missing = [project for project in projects if not store.has(project.row.digest, measure.key)]
        done = len(projects) - len(missing)
        progress(label, done, len(projects))
        if not missing:
            continue
        pairs = pairs_of(progress, label)
        shared = SharedScorer(measure.measure, [project.table for project in missing], cache=cache, progress=pairs)
        for project in missing:
            scored = score_table(project.table, shared, chance(measure), key=project.row.digest)
            store.put(project.row.digest, measure.key, measure.label, scored, measure.prompts(scored))
            done += 1
            progress(label, done, len(projects))


def pairs_of(progress: Progress, what: str) -> Callable[[int, int], None]:
    """Progress of a model through the text pairs of one population or table."""
    return lambda done, total: progress(f"{what}, text pairs", done, total)
