"""Every template that Label Studio ships is connected, answered, scored and reported, or refused with the reason.

`READ` lists the types of results that are compared, and `NOT_COMPARED` those that reports name and count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ml_backend.project_settings import ProjectSettings
from ml_backend.store.store import Row, Store
from ml_backend.web.links import Links
from ml_backend.web.project_report import ProjectReports
from softirr.answers.kinds import CONTROL_KINDS
from tests.labelstudio.backend import Commands
from tests.labelstudio.conftest import Harness, User

pytestmark = pytest.mark.slow

READ = frozenset({"textarea", "choices", "rating", "taxonomy", "pairwise", "ranker"})
"""Types of results in templates that are compared, on tasks and on regions."""
NOT_COMPARED = frozenset({"labels", "paragraphlabels", "rectanglelabels", "timeserieslabels"})
"""Types of results in these templates that a report names and counts."""
GROUPS: Mapping[str, tuple[int, int, frozenset[str]]] = {
    "Audio/Speech Processing": (5, 3, frozenset({"textarea", "choices", "rating", "labels"})),
    "Chat": (4, 1, frozenset({"textarea", "choices", "rating"})),
    "Community Contributions": (3, 2, frozenset({"textarea", "choices", "rectanglelabels"})),
    "Computer Vision": (5, 8, frozenset({"textarea", "choices", "labels", "rectanglelabels"})),
    "Conversational AI": (3, 1, frozenset({"textarea", "choices", "paragraphlabels"})),
    "Generative AI": (6, 0, frozenset({"textarea", "choices", "rating", "pairwise", "ranker"})),
    "Natural Language Processing": (5, 3, frozenset({"textarea", "choices", "taxonomy"})),
    "Ranking & Scoring": (7, 0, frozenset({"choices", "rating", "pairwise"})),
    "Structured Data Parsing": (3, 1, frozenset({"textarea", "choices", "rating"})),
    "Time Series Analysis": (3, 2, frozenset({"choices", "rating", "timeserieslabels"})),
    "Videos": (1, 3, frozenset({"choices"})),
}
"""Group of templates -> how many are scored, how many have nothing to compare, and the types of their results."""
N_TASKS = 2
NOTHING = "nothing to compare"

GEOMETRY: Mapping[str, Mapping[str, Any]] = {
    "text": {"start": 0, "end": 5, "text": "fever"},
    "hypertext": {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0, "endOffset": 5},
    "paragraphs": {"start": "0", "end": "0", "startOffset": 0, "endOffset": 4},
    "audio": {"start": 0.5, "end": 2.5, "channel": 0},
    "video": {"ranges": [{"start": 1, "end": 9}]},
    "timeseries": {"start": 1, "end": 5, "instant": False},
    "image": {"x": 10, "y": 10, "width": 30, "height": 20, "rotation": 0},
    "pdf": {"x": 10, "y": 10, "width": 30, "height": 20, "page_index": 0},
}
"""A region by the kind of the object that it is on."""
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "polygonlabels": {"points": [[10, 10], [40, 10], [40, 30]]},
    "brushlabels": {"format": "rle", "rle": [0, 1, 1, 0]},
    "keypointlabels": {"x": 20, "y": 20, "width": 0.5},
    "videorectangle": {"sequence": [{"frame": 1, "x": 10, "y": 10, "width": 30, "height": 20, "enabled": True}]},
}
DATA: Mapping[str, Any] = {
    "paragraphs": [{"author": "Ann", "role": "user", "text": "Hello", "content": "Hello"}],
    "chat": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
    "list": [{"id": name, "title": name, "body": name} for name in ("a", "b", "c")],
    "choices": [{"value": "one"}, {"value": "two"}],
    "taxonomy": [{"value": "one"}, {"value": "two"}],
    "table": {"dose": "5 mg"},
}


class Template:
    """A label config with what its tasks and annotations need."""

    def __init__(self, config: str):
        self.config = config
        self.elements = [element for element in ElementTree.fromstring(config).iter() if isinstance(element.tag, str)]
        self.objects = {
            element.get("name"): element.tag.lower()
            for element in self.elements
            if element.get("name") and not _attribute(element, "toname")
        }
        self.controls = [element for element in self.elements if element.get("name") and _attribute(element, "toname")]

    def names(self, *, compared: bool) -> set[str]:
        """Return the names of the controls that are compared, or of the others."""
        return {
            str(element.get("name"))
            for element in self.controls
            if (element.tag.lower() in (*CONTROL_KINDS, "textarea")) == compared
        }

    def data(self, number: int) -> dict[str, Any]:
        """Return the data of a task: a value for each variable of the config."""
        values: dict[str, Any] = {}
        for element in self.elements:
            for attribute, value in element.attrib.items():
                for name in re.findall(r"\$([A-Za-z_]\w*)", value):
                    default = [f"https://example.org/{number}.png"] if attribute == "valueList" else f"{name} {number}"
                    values.setdefault(name, DATA.get(element.tag.lower(), default))
        return values

    def results(self, task: int, user: int) -> Iterator[dict[str, Any]]:
        """Yield the results of an annotation: a value of each control, on one region if it is answered by region."""
        target, geometry = next(self._regions(), ("", {}))
        for element in self.controls:
            tag, name, to_name = element.tag.lower(), element.get("name"), _attribute(element, "toname").split(",")[0]
            common = {"from_name": name, "to_name": to_name, "type": tag, "origin": "manual"}
            if tag.endswith("labels") or tag == "videorectangle":
                shape = SHAPES.get(tag) or GEOMETRY[self.objects.get(to_name, "text")]
                labels = {} if tag == "videorectangle" else {tag: [_values(element)[0]]}
                yield {**common, "id": f"{name}1", "value": {**shape, **labels}}
            elif (value := _value(element, task, user)) is not None:
                is_on_region = _attribute(element, "perregion").lower() == "true" and target
                region = {"id": f"{target}1", "value": {**geometry, **value}}
                yield {**common, **(region if is_on_region else {"value": value})}

    def _regions(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the control of a region, and the region."""
        for element in self.controls:
            tag = element.tag.lower()
            if tag.endswith("labels"):
                to_name = _attribute(element, "toname").split(",")[0]
                yield str(element.get("name")), SHAPES.get(tag) or GEOMETRY[self.objects.get(to_name, "text")]


def _attribute(element: ElementTree.Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.lower() == name), "")


def _values(element: ElementTree.Element) -> list[str]:
    values = [str(child.get("value")) for child in element.iter() if child is not element and child.get("value")]
    return values if len(values) > 1 else [*values, "one", "two"]


def _value(element: ElementTree.Element, task: int, user: int) -> dict[str, Any] | None:
    """Return a value of a control: the two annotators agree on every task but the first."""
    n = task + user * (task == 0)
    values = _values(element)
    match element.tag.lower():
        case "textarea":
            return {"text": [("severe headache", "dry cough", "rash", "fever")[n % 4]]}
        case "choices":
            return {"choices": [values[n % 2]]}
        case "taxonomy":
            return {"taxonomy": [[values[n % 2]]]}
        case "rating" | "number":
            return {element.tag.lower(): 1 + n % 3}
        case "pairwise":
            return {"selected": ("left", "right")[n % 2]}
        case "ranker":
            buckets = [str(bucket.get("name")) for bucket in element if bucket.tag == "Bucket"]
            order = ["a", "b"] if n % 2 else ["b", "a"]
            return {"ranker": {buckets[0]: order[:1], buckets[1]: order[1:]} if buckets else [*order, "c"]}
    return None


def templates(ls: Harness) -> Iterator[tuple[str, str, Template]]:
    """Yield group, title and label config of every template that Label Studio lists."""
    for entry in ls.api.get("/api/templates/")["templates"]:
        if entry.get("config"):
            yield entry["group"], entry["title"], Template(entry["config"])


def answer(ls: Harness, project: int, template: Template, people: list[User]) -> Counter[str]:
    """Answer tasks of a project through the API; returns the number of results of each type."""
    tasks = ls.import_tasks(project, [{"data": template.data(number)} for number in range(N_TASKS)])
    counts: Counter[str] = Counter()
    for number, task in enumerate(tasks):
        for rater, user in enumerate(people):
            results = list(template.results(number, rater))
            counts.update(result["type"] for result in results)
            user.api.post(f"/api/tasks/{task}/annotations/", {"result": results, "lead_time": 10.0 + rater})
    return counts


def problems_of_report(store: Store, row: Row, template: Template, counts: Counter[str]) -> Iterator[str]:
    """Yield what is wrong with the report on an answered project."""
    summary = row["summary"]
    fields = {field["name"]: field for field in summary.get("fields", ())}
    read = {*summary["controls"], *fields}
    if read != template.names(compared=True):
        yield f"read {sorted(read)} instead of {sorted(template.names(compared=True))}"
    yield from (f"{name}: {field['problem']}" for name, field in fields.items() if field.get("problem"))
    compared = {name: field["n_items"] for name, field in fields.items() if "n_items" in field}
    compared |= {name: report["n_compared"] for name, report in summary["controls"].items()}
    yield from (f"{name}: {n} of {N_TASKS} tasks compared" for name, n in compared.items() if n != N_TASKS)
    expected = {type_: n for type_, n in counts.items() if type_ not in READ}
    if summary["not_compared"] != expected:
        yield f"not compared are {summary['not_compared']} instead of {expected}"
    control = next(iter(summary["controls"]))
    view = ProjectReports(store).view(
        row, control, ProjectSettings(measure="indel"), Links(row["server"], row["number"])
    )
    shown_report = view.to_dict()
    if len(shown_report["items"]) != N_TASKS or all(row["value"] is None for row in shown_report["coefficients"]):
        yield f"the report shows {len(shown_report['items'])} tasks and {shown_report['coefficients']}"
    for type_, n in expected.items():
        if not any(f"{n:,} of type {type_}" in warning for warning in shown_report["warnings"]):
            yield f"the report does not count the type {type_}"


def problems_of_template(ls: Harness, commands: Commands, template: Template, people: list[User]) -> list[str]:
    """Connect, answer, score and report a template; returns what is wrong."""
    project = ls.create_project(label_config=template.config)
    status, _, errors = commands.here("connect", "--project", str(project), "--pull-only")
    if not template.names(compared=True):
        return [] if status == 2 and NOTHING in errors else [f"connect ended with status {status}: {errors}"]
    if status != 0:
        return [f"connect ended with status {status}: {errors}"]
    counts = answer(ls, project, template, people)
    commands.sync(project)
    store = commands.store()
    row = store.project(ls.url, project)
    assert row is not None
    problems = list(problems_of_report(store, row, template, counts))
    store.close()
    scored = {prediction["task"] for prediction in ls.predictions(project)}
    return problems + ([] if len(scored) == N_TASKS else [f"{len(scored)} of {N_TASKS} tasks have a prediction"])


def test_groups_and_types_are_those_of_label_studio(ls: Harness) -> None:
    templates_by_group: dict[str, list[Template]] = {}
    for group, _, template in templates(ls):
        templates_by_group.setdefault(group, []).append(template)
    assert set(templates_by_group) == set(GROUPS)
    for group, (n_scored, n_refused, types) in GROUPS.items():
        scored = [template for template in templates_by_group[group] if template.names(compared=True)]
        assert (len(scored), len(templates_by_group[group]) - len(scored)) == (n_scored, n_refused), group
        assert {result["type"] for template in scored for result in template.results(0, 0)} == types, group
    assert set().union(*(types for _, _, types in GROUPS.values())) == READ | NOT_COMPARED


@pytest.mark.parametrize("group", GROUPS)
def test_templates_are_scored_or_refused_with_the_reason(ls: Harness, tmp_path: Path, group: str) -> None:
    people = [ls.person(name) for name in ("Ann", "Ben")]
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    problems = {
        title: problems_of_template(ls, commands, template, people)
        for name, title, template in templates(ls)
        if name == group
    }
    assert {title: template_problems for title, template_problems in problems.items() if template_problems} == {}


REPEATER = """<View><Paragraphs name="dialogue" value="$dialogue"/><Repeater on="$dialogue" indexFlag="{{idx}}">
<Text name="turn_{{idx}}" value="$dialogue[{{idx}}].text"/>
<TextArea name="rewrite_{{idx}}" toName="turn_{{idx}}"/>
<Choices name="tone_{{idx}}" toName="turn_{{idx}}"><Choice value="kind"/><Choice value="rude"/></Choices>
</Repeater></View>"""


def turn(number: int, text: str, tone: str) -> list[dict[str, Any]]:
    """Return the results of an annotator for a turn of a dialogue."""
    to_name = f"turn_{number}"
    return [
        {"from_name": f"rewrite_{number}", "to_name": to_name, "type": "textarea", "value": {"text": [text]}},
        {"from_name": f"tone_{number}", "to_name": to_name, "type": "choices", "value": {"choices": [tone]}},
    ]


def test_turns_of_dialogues_of_different_lengths_are_items(ls: Harness, tmp_path: Path) -> None:
    people = [ls.person(name) for name in ("Ann", "Ben")]
    project = ls.create_project(label_config=REPEATER)
    lengths = (1, 3)
    data = [{"dialogue": [{"author": "a", "text": f"line {k}"} for k in range(length)]} for length in lengths]
    tasks = ls.import_tasks(project, [{"data": entry} for entry in data])
    for task, length in zip(tasks, lengths, strict=True):
        for rater, user in enumerate(people):
            # the annotators agree on every turn but the last one of the longer dialogue
            differs = [rater == 1 and k == 2 for k in range(length)]
            turns = [turn(k, "fever" if no else f"line {k}", "rude" if no else "kind") for k, no in enumerate(differs)]
            results = [result for of_turn in turns for result in of_turn]
            user.api.post(f"/api/tasks/{task}/annotations/", {"result": results, "lead_time": 5.0})
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    commands.json("connect", "--project", str(project), "--pull-only")
    commands.sync(project)
    store = commands.store()
    (row,) = store.projects()
    text = row["summary"]["controls"]["rewrite_{{idx}}"]
    (tone,) = row["summary"]["fields"]
    assert (text["n_compared"], tone["name"], tone["n_items"]) == (sum(lengths), "tone_{{idx}}", sum(lengths))
    assert tone["kind"] == "nominal" and text["excluded"] == []
    details = {number: details["controls"]["rewrite_{{idx}}"] for number, details in store.details(row["id"])}
    assert details[tasks[0]]["agreement"] == 1.0 and 0.5 < details[tasks[1]]["agreement"] < 1.0
    store.close()
