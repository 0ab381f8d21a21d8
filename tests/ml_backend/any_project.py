"""Projects of every kind with all that makes answers differ, drawn by Hypothesis, and options of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from softirr.answers.labelstudio import AGREED_ID
from softirr.meaning.policy.rules import Policy
from tests.ml_backend.answered_fields import CONFIG as FIELDS_CONFIG
from tests.ml_backend.answered_fields import answers as answers_to_fields
from tests.ml_backend.answered_fields import result
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

TEXTS = ("Fever", "fever", "severe fever", "mild fever", "cough; rash", "rash;cough", "chills", "n/a", "-", "+", "")
ANNOTATORS = (1, 2, 3, 10)
REVIEWER = 10
Results = list[dict[str, Any]]


class Kind(NamedTuple):
    """A label config, and what draws the results of an annotation of a task."""

    config: str
    results: Callable[[Random, int, int], Results]


def view(controls: str, task_object: str = '<Text name="text" value="$text"/>') -> str:
    return f"<View>{task_object}{controls}</View>"


def choices(name: str, attributes: str = "") -> str:
    return f'<Choices name="{name}" {attributes}><Choice value="left"/><Choice value="right"/></Choices>'


def some_texts(rng: Random) -> list[str]:
    return rng.sample(TEXTS, rng.choice((1, 1, 1, 2)))


def sides(rng: Random) -> list[str]:
    return rng.choice((["left"], ["right"], ["left"], ["right"], ["left", "right"]))


def of_texts(rng: Random, task: int, user: int) -> Results:
    texts = [region(some_texts(rng), name) for name in ("findings", "diagnosis") if rng.random() < 0.9]
    return texts + [result("side", "choices", sides(rng)) for _ in range(rng.random() < 0.9)]


def of_fields(rng: Random, task: int, user: int) -> Results:
    return [entry for entry in answers_to_fields(task, rng.randrange(4))[1:] if rng.random() < 0.9]


def marked(rng: Random, extents: Iterator[dict[str, Any]]) -> Results:
    """Results about regions: a label, a text and choices, each about the same place."""
    results = []
    for extent in extents:
        common = {"id": f"r{rng.randrange(10**9)}"}
        results.append(result("label", "labels", ["A"]) | common)
        results.append(region(some_texts(rng), **common))
        results.append(result("side", "choices", sides(rng)) | common)
        for entry in results[-3:]:
            entry["value"] = {**extent, **entry["value"]}
    return results


def of_spans(rng: Random, task: int, user: int) -> Results:
    starts = rng.sample((0, 3, 8, 100), rng.randrange(4))
    return marked(rng, ({"start": start, "end": start + 10} for start in starts))


def of_paragraphs(rng: Random, task: int, user: int) -> Results:
    numbers = rng.sample((0, 1, 2, 10), rng.randrange(4))
    offsets = {"startOffset": 0, "endOffset": 5 + user}
    return marked(rng, ({"start": str(number), "end": str(number), **offsets} for number in numbers))


def of_turns(rng: Random, task: int, user: int) -> Results:
    results: Results = []
    for turn in {*rng.sample(range(12), rng.randrange(5)), *([] if task > 1 else [0])}:
        of_turn = {"to_name": f"line_{turn}", "id": f"t{turn}"}
        results.append(region(some_texts(rng), f"gist_{turn}") | of_turn)
        if not turn or rng.random() < 0.7:
            results.append(result(f"tone_{turn}", "choices", sides(rng)) | of_turn)
    return results


def of_messages(rng: Random, task: int, user: int) -> Results:
    results: Results = []
    for number in range(3):
        message = {"role": "assistant", "content": f"message {number}"}
        results.append(result("talk", "chatmessage", message) | {"id": f"m{number}"})
        if rng.random() < 0.7:
            results.append(region(some_texts(rng), id=f"m{number}"))
            results.append(result("side", "choices", sides(rng)) | {"id": f"m{number}"})
    return results


_PER_REGION = 'toName="text" perRegion="true"'
_OF_REGIONS = f'<TextArea name="findings" {_PER_REGION}/>' + choices("side", _PER_REGION)
_OF_TURNS = '<TextArea name="gist_{{idx}}" toName="line_{{idx}}"/>' + choices("tone_{{idx}}", 'toName="line_{{idx}}"')
KINDS = {
    "texts": Kind(
        view(
            '<TextArea name="findings" toName="text"/><TextArea name="diagnosis" toName="text"/>'
            + choices("side", 'toName="text"')
        ),
        of_texts,
    ),
    "fields": Kind(FIELDS_CONFIG.replace('<TextArea name="findings" toName="text"/>', ""), of_fields),
    "spans": Kind(view('<Labels name="label" toName="text"><Label value="A"/></Labels>' + _OF_REGIONS), of_spans),
    "paragraphs": Kind(
        view(
            '<ParagraphLabels name="label" toName="text"><Label value="A"/></ParagraphLabels>' + _OF_REGIONS,
            '<Paragraphs name="text" value="$text"/>',
        ),
        of_paragraphs,
    ),
    "turns": Kind(
        '<View><Repeater on="$talk" indexFlag="{{idx}}"><Text name="line_{{idx}}" value="$talk[{{idx}}].text"/>'
        f"{_OF_TURNS}</Repeater></View>",
        of_turns,
    ),
    "messages": Kind(view(_OF_REGIONS, '<Chat name="text" value="$text"/>'), of_messages),
}


def filled(kind: Kind, rng: Random) -> FakeLabelStudio:
    """A project with annotations that count, and skipped, older, copied and agreed ones, drafts and predictions."""
    fake = FakeLabelStudio(kind.config)
    for _ in range(rng.randint(2, 8)):
        task = fake.add_task()
        for user in rng.sample(ANNOTATORS, rng.choice((3, 3, 2, 1, 0)) if task > 1 else 3):
            results = kind.results(rng, task, user)
            fake.annotate(task, user, [], result=results, was_cancelled=rng.random() < 0.05)
            if rng.random() < 0.1:
                fake.annotate(task, user, [], result=kind.results(rng, task, user))
            if rng.random() < 0.05:
                copied = [{**entry, "origin": "prediction"} for entry in kind.results(rng, task, user)]
                fake.annotate(task, user, [], result=copied)
        if rng.random() < 0.1:
            agreed = [{**entry, "id": f"{AGREED_ID}{n}"} for n, entry in enumerate(kind.results(rng, task, 1))]
            fake.annotate(task, REVIEWER, [], result=agreed, ground_truth=True)
        if rng.random() < 0.1:
            fake.tasks[task]["drafts"].append({"user": rng.choice(ANNOTATORS), "result": kind.results(rng, task, 1)})
        if rng.random() < 0.7:
            fake.add_prediction(task, [], "gpt")
            fake.tasks[task]["predictions"][-1]["result"] = kind.results(rng, task, 0)
    return fake


def options(rng: Random) -> dict[str, Any]:
    """Options of a project that the commands on its export have, too."""
    policy = Policy(
        "ours",
        ignore=frozenset(rng.choice(((), (), ("severity",)))),
        split=rng.choice((None, None, "semicolons")),
    )
    return {
        "casefold": rng.random() < 0.5,
        "predictions_as_raters": rng.random() < 0.5,
        "missing": rng.choice(("auto", "none", "auto,chills")),
        "regions": rng.choice(("pooled", "matched")),
        "reviewers": rng.choice(([], [str(REVIEWER)])),
        "policy": policy.to_dict(),
        "score": "mean",
        "predictions": "always",
    }
