"""`softirr-ls export` prints answers with the tasks' data as columns."""

from __future__ import annotations

from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import region


def test_a_row_for_each_text_with_the_data_of_its_task(bench: Bench) -> None:
    first = bench.fake.add_task({1: ["fever", "cough"], 2: []})
    second = bench.fake.add_task({2: ["rash"]})
    bench.fake.tasks[first]["data"] = {"site": "Bern", "text": "x" * 500}
    bench.fake.tasks[second]["data"] = {"site": "Basel", "age": 70}
    bench.sync()
    header, *rows = bench.store.answer_rows(bench.row)
    assert header == ["item", "rater", "field", "text", "data.age", "data.site"]
    assert rows == [
        [first, "User1", "findings", "fever", "", "Bern"],
        [first, "User1", "findings", "cough", "", "Bern"],
        [first, "User2", "findings", "", "", "Bern"],
        [second, "User2", "findings", "rash", "70", "Basel"],
    ]


def test_other_fields_are_rows_too(bench: Bench) -> None:
    config = bench.fake.project["label_config"]
    bench.fake.project["label_config"] = config.replace("</View>", '<Choices name="kind" toName="text"/></View>')
    task = bench.fake.add_task()
    choice = {"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": ["drug"]}}
    bench.fake.annotate(task, 1, [], result=[region(["fever"]), choice])
    bench.sync()
    _, *rows = bench.store.answer_rows(bench.row)
    assert sorted(row[2:4] for row in rows) == [["findings", "fever"], ["kind", "drug"]]


def test_annotators_of_the_same_name_stay_two(bench: Bench) -> None:
    bench.fake.add_task({1: ["fever"], 2: ["rash"], 3: ["cough"]})
    for user in (1, 2):
        bench.fake.users[user] |= {"first_name": "Anna", "last_name": "Smith"}
    bench.sync()
    _, *rows = bench.store.answer_rows(bench.row)
    assert [row[1] for row in rows] == ["Anna Smith (1@x)", "Anna Smith (2@x)", "User3"]
