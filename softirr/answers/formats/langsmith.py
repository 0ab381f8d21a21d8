"""LangSmith: examples with the runs of experiments, and people's feedback on these runs, as the API gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from softirr.answers.evaluations import Evaluation, log_format
from softirr.answers.gathered import Records, Request, Tables, chosen_texts, in_order
from softirr.answers.layout import listed
from softirr.errors import InputError
from softirr.text import is_blank

__all__ = ["FORMATS"]

_NAME = "langsmith"
_MODELS = ("model", "auto_eval")
"""Sources of feedback that are evaluators."""
_SAW_THE_OUTPUT = (
    "People wrote their feedback with the output of a model in view, so they agree with it more than people who "
    "answer on their own."
)


@dataclass
class _Export:
    """Examples with their runs and people's feedback, each with the place where it is."""

    request: Request
    examples: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    feedback: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    n_scores: int = 0
    """People's feedback without a text, such as a score."""
    n_evaluators: int = 0
    """Feedback of evaluators."""

    def add(self, records: Records, request: Request, name: str | None) -> None:
        """The records of a file: examples, feedback, or pages of either."""
        for line, record in records:
            place = request.line(line)
            for one in _entries(record):
                if _is_example(one):
                    self.examples.append((one, place))
                    for run in one["runs"]:
                        self._add_feedback(run, place)
                elif _is_feedback(one):
                    self._keep(one, place)
                else:
                    raise InputError(f"{place}: expected an example of LangSmith with inputs and runs, or feedback.")

    def _add_feedback(self, run: Any, place: str) -> None:
        """Feedback that is inside of its run."""
        inside = run.get("feedback") if isinstance(run, Mapping) else None
        for one in inside if isinstance(inside, list) else ():
            if isinstance(one, Mapping) and _is_feedback(one := {"run_id": run.get("id"), **one}):
                self._keep(one, place)

    def _keep(self, one: Mapping[str, Any], place: str) -> None:
        if _source(one).get("type") in _MODELS:
            self.n_evaluators += 1
        elif one.get("correction") is None and _value(one) is None:
            self.n_scores += 1
        else:
            self.feedback.append((one, place))

    def tables(self) -> Tables:
        """The answers in the output or the feedback asked for, or in the only one with texts."""
        request = self.request
        if not self.examples:
            raise InputError(f"{request.name} has feedback, but not the examples and runs that it is about.")
        outputs = tuple(
            dict.fromkeys(name for one, place in self.examples for run in one["runs"] for name in _texts(run, place))
        )
        keys = tuple(dict.fromkeys(str(one["key"]) for one, _ in self.feedback if _value(one) is not None))
        names = tuple(dict.fromkeys((*keys, *outputs))) if request.texts else keys or outputs
        tables: Tables = {}
        for name in chosen_texts(request, names, "key" if keys else "output"):
            if name not in outputs and len(outputs) > 1:
                raise InputError(
                    f"{request.name} has several outputs ({listed(outputs)}), and none is named {name!r} like the "
                    "feedback: give the output of the runs and the feedback the same name."
                )
            tables |= self._table(name, name if name in outputs else next(iter(outputs), name))
        return tables

    def _table(self, name: str, output: str) -> Tables:
        """Answers of models in an output, and of people in corrections of it and in feedback under a key."""
        evaluation = Evaluation(self.request, _NAME)
        items: dict[str, str] = {}
        for one, place in self.examples:
            _add_example(one, output, place, evaluation)
            items |= {str(run["id"]): str(one["id"]) for run in one["runs"] if run.get("id") is not None}
        dated = [(one.get("modified_at") or one.get("created_at"), one, place) for one, place in self.feedback]
        unnamed: set[str] = set()
        n_elsewhere = n_other = n_read = 0
        for _, one, place in in_order(dated):
            item = items.get(str(one["run_id"] or one.get("trace_id")))
            text = _answer(one, output, name)
            if item is None:
                n_elsewhere += 1
            elif text is None:
                n_other += 1
            else:
                rater = _person(one)
                if rater == "api" and item in unnamed:
                    raise InputError(f"{place}: an example has several answers of people, and the feedback names none.")
                if rater == "api":
                    unnamed.add(item)
                evaluation.person(item, rater, text, place)
                n_read += 1
        notes = [_SAW_THE_OUTPUT] if n_read else []
        for number, what in (
            (self.n_scores, "Feedback without a text"),
            (self.n_evaluators, "Feedback of evaluators"),
            (n_elsewhere, "Feedback on other runs"),
            (n_other, "Feedback under other keys"),
        ):
            notes += [f"{what}, left out: {number:,}."] if number else []
        return evaluation.tables(name, notes=tuple(notes))


def _entries(record: Any) -> Iterator[Any]:
    """Entries of a page of the API, or the record itself."""
    is_page = isinstance(record, Mapping) and isinstance(record.get("items"), list) and "id" not in record
    yield from record["items"] if is_page else [record]


def _is_example(record: Any) -> bool:
    is_it = isinstance(record, Mapping) and isinstance(record.get("runs"), list) and "id" in record
    return is_it and isinstance(record.get("inputs"), Mapping)


def _is_feedback(record: Any) -> bool:
    return isinstance(record, Mapping) and {"run_id", "key", "feedback_source", "score"} <= record.keys()


def _source(feedback: Mapping[str, Any]) -> Mapping[str, Any]:
    source = feedback.get("feedback_source")
    return source if isinstance(source, Mapping) else {}


def _value(feedback: Mapping[str, Any]) -> str | None:
    """The text of feedback; the name of a category, which has a score, is none, and nor is a remark on a score."""
    if feedback.get("score") is not None:
        return None
    value = feedback.get("value")
    text = feedback.get("comment") if value is None else value
    return text if isinstance(text, str) and not is_blank(text) else None


def _answer(feedback: Mapping[str, Any], output: str, key: str) -> Any:
    """What a person says the output should be, or the text under the key."""
    correction = feedback.get("correction")
    if isinstance(correction, Mapping):
        correction = correction.get(output)
    return correction if correction is not None else _value(feedback) if feedback["key"] == key else None


def _person(feedback: Mapping[str, Any]) -> str:
    """Name of the annotator; feedback that a program sent on may have none."""
    source = _source(feedback)
    name = source.get("user_name") or source.get("user_id")
    return name if isinstance(name, str) and not is_blank(name) else "api"


def _outputs(entry: Any, place: str) -> Mapping[str, Any]:
    """Outputs of a run or an example by their names."""
    outputs = (entry.get("outputs") if isinstance(entry, Mapping) else None) or {}
    if not isinstance(outputs, Mapping):
        raise InputError(f"{place}: the outputs of a run or an example have no names.")
    return outputs


def _texts(entry: Any, place: str) -> Iterator[str]:
    """Names of the outputs of a run or an example that are texts."""
    yield from (str(name) for name, value in _outputs(entry, place).items() if isinstance(value, str))


def _add_example(record: Mapping[str, Any], output: str, place: str, evaluation: Evaluation) -> None:
    """The answers of the models to an example, and its reference."""
    seen: dict[str, int] = {}
    for run in record["runs"]:
        names = ("session_name", "session_id", "project_id")
        model = next((run[one] for one in names if run.get(one)), None) if isinstance(run, Mapping) else None
        if not isinstance(model, str):
            raise InputError(f"{place}: a run does not name its experiment (session_name or session_id).")
        seen[model] = seen.get(model, 0) + 1
        failed = bool(run.get("error"))
        text = _outputs(run, place).get(output)
        evaluation.answer(record["id"], model, text, place, run=seen[model], failed=failed)
    own = list(_texts(record, place))
    name = output if output in own else own[0] if len(own) == 1 else ""
    evaluation.reference(record["id"], _outputs(record, place).get(name), place)


def _is_it(record: Mapping[str, Any]) -> bool:
    first = next(_entries(record), None)
    return _is_example(first) or _is_feedback(first)


FORMATS = (log_format(_NAME, _Export, _is_it, what="exports of LangSmith"),)
