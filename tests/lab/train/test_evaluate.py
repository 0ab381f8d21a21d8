"""The tables: on toy data with known answers, and the whole command."""

from __future__ import annotations

import functools
import gzip
import json

import numpy as np
import pytest

import softirr
from lab.results_table import Table
from lab.terminologies import load
from lab.train import annotators, challenge, set_aside_part
from lab.train import evaluate as tables
from lab.train.__main__ import main
from lab.train.card import licenses, write_card
from softirr.errors import InputError
from tests.meaning.measures.function_measures import DirectedFunction

from .conftest import write


def oracle():
    """Knows which texts share all words, and that "small x" is an x."""

    def words(text):
        return set(text.casefold().split()) - {"of", "in", "the", "any"}

    return DirectedFunction(lambda a, b: float(words(b) <= words(a)), "oracle")


CHALLENGE = """kind\tfirst\tsecond\tgold
order\tpain of the kidney\tkidney pain\tequivalent
opposite\tleft pain\tright pain\tdifferent
opposite\tpain left\tleft pain\tdifferent
hypernym\tsmall cyst\tcyst\tfirst entails second
"""


def value(table: Table, row: str, column: int = 1):
    return next(r[column] for r in table.rows if r[0] == row)


def test_challenge_tables(tmp_path):
    pairs = challenge.read_challenge(str(write(tmp_path / "c.tsv", CHALLENGE)))
    whole, by_kind = challenge.challenge_tables(oracle(), pairs, "c.tsv")
    assert value(whole, "AUROC, equivalent against different") == 0.75
    assert value(whole, "opposites called equivalent") == 0.5
    assert value(whole, "equivalent pairs found") == 1
    assert value(whole, "directions right") == 1
    assert value(whole, "pairs", 2) < value(whole, "pairs") == len(pairs)
    assert (
        value(by_kind, "opposite", 4) == 0.5 and value(by_kind, "order", 3) == 1 and value(by_kind, "hypernym", 5) == 0
    )


def test_error_of_kappa_is_nought_for_a_perfect_measure(toy):
    table = tables.kappa(oracle(), [load(str(toy))], 1)
    assert [row[0] for row in table.rows] == ["random", "sibling", "ancestor", "lexical"]
    assert all(row[1] < 0.03 for row in table.rows)


def test_mix_direction_and_calibration(toy):
    t = load(str(toy))
    pairs, truth = tables.mix(t, 300)
    assert len(pairs) == len(truth) and 0.3 < np.mean(truth) < 0.4
    assert (pairs, truth) == tables.mix(t, 300)
    assert all(a != b for (a, b), same in zip(pairs, truth, strict=True) if same)
    table = tables.calibration(oracle(), [t], 300)
    assert table.rows[0][2] < 0.02 and table.rows[0][3] > 0.98
    edges = tables.direction(oracle(), [t]).rows[0]
    assert edges[1] == 208 and edges[2] == 0.5  # a finding's own parent is in its words, an organ's is not


def test_clusters(tmp_path):
    line = {
        "answers": {"clusters": {"a": {"answers": ["kidney pain", "pain of the kidney"]}, "b": {"answers": ["rash"]}}}
    }
    table = annotators.clusters(oracle(), write(tmp_path / "q.jsonl", json.dumps(line) + "\n"))
    assert table.rows == ((1, 1.0, 1.0),)
    with pytest.raises(InputError, match="line 1"):
        annotators.clusters(oracle(), write(tmp_path / "bad.jsonl", "{}\n"))


def test_sentences(tmp_path):
    file = write(
        tmp_path / "n.tsv",
        "premise\thypothesis\tlabel\nsmall cyst\tcyst\tentailment\ncyst\tsmall cyst\tneutral\na\ta b\tentailment\n",
    )
    assert tables.nli(oracle(), [file]).rows == (("n", 3, pytest.approx(2 / 3), pytest.approx(2 / 3)),)


def test_the_size_of_the_model_in_the_package():
    assert 40 < tables.speed(softirr.measure("nli"), 64).rows[0][-1] < 50


@pytest.mark.slow
def test_a_model_is_measured_in_the_precision_that_is_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tables, "speed", functools.partial(tables.speed, size=64))
    assert tables.make("nli", "cpu", "float32").provenance().precision == "float32"
    assert tables.make("indel", precision="float32").score([("gout", "gout")])[0] == 1
    assert main(["--evaluate", "--tables", "speed", "--precision", "float32", "--json", str(tmp_path / "t.json")]) == 0
    assert "| cpu | float32 |" in capsys.readouterr().out
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["command"].endswith("--precision float32")


def test_the_command_prints_and_keeps_the_tables(root, tmp_path, capsys):
    kept, card = tmp_path / "t.json", tmp_path / "model"
    card.mkdir()
    files = [str(root / "tests" / "lab" / "train" / f"{name}.tsv") for name in ("challenge", "second_challenge")]
    more = ["--json", str(kept), "--card", str(card), "--card-name", "shipped"]
    assert (
        main(["--evaluate", "--measure", "indel", "--challenge", *files, "--tables", "challenge", "speed", *more]) == 0
    )
    out = capsys.readouterr().out
    assert "| look-alike | 38 |" in out and "pairs a second" in out
    measurements = json.loads(kept.read_text(encoding="utf-8"))
    assert measurements["measure"] == "indel" and [t["title"] for t in measurements["tables"]] == [
        "Challenge set challenge.tsv",
        "Challenge set challenge.tsv by kind",
        "Challenge set second_challenge.tsv",
        "Challenge set second_challenge.tsv by kind",
        "Speed and size",
    ]
    assert "## The bundled model" in (card / "README.md").read_text(encoding="utf-8")
    write_card(card, {"measured": measurements})
    text = (card / "README.md").read_text(encoding="utf-8")
    assert "## The bundled model" in text and "## The benchmark model" in text
    first_row = measurements["tables"][0]["rows"][1]
    assert f"\n| challenge.tsv: {first_row[0]} | {first_row[1]:.3f} |\n" in text and text.count("|---|") == 2, (
        "one table a model"
    )
    assert (
        "–evaluate" not in text and "--evaluate --measure indel --challenge challenge.tsv second_challenge.tsv" in text
    )


def test_what_a_person_remarked_stands_in_the_card(tmp_path):
    remarks = tmp_path / "remarks.json"
    remarks.write_text('{"fails": ["Colours."], "models": {"shipped": "Of last year."}}', encoding="utf-8")
    write_card(tmp_path, {"shipped": {"command": "python -m lab.train", "tables": []}})
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "\n- Colours.\n" in text and "### The bundled model\n\nOf last year.\n" in text
    remarks.write_text('{"fails": ["Colours."]}', encoding="utf-8")
    with pytest.raises(InputError, match=r"remarks\.json is damaged"):
        write_card(tmp_path, {})


@pytest.mark.parametrize("name", ["challenge.tsv", "second_challenge.tsv"])
def test_lexical_measures_are_worse_than_a_coin_on_the_challenge_sets(name, root):
    pairs = challenge.read_challenge(str(root / "tests" / "lab" / "train" / name))
    whole, _ = challenge.challenge_tables(tables.make("indel", "cpu"), pairs, name)
    assert value(whole, "AUROC, equivalent against different") < 0.5
    assert value(whole, "opposites called equivalent") > 0.8


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--tables", "kappa"], "nothing to measure on"),
        (["--data", "missing"], "not a folder"),
        (["--measure", "nonesuch"], "no measure"),
    ],
)
def test_unusable_requests_are_refused_in_one_sentence(options, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--evaluate", "--measure", "indel", *options]) == 2
    assert sentence in capsys.readouterr().err.strip().splitlines()[-1]


def test_a_challenge_set_needs_both_truths(tmp_path):
    file = write(tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nlay\ta\tb\tequivalent\n")
    with pytest.raises(InputError, match="different"):
        challenge.read_challenge(str(file))


def test_tables_as_markdown():
    text = Table("Title", ("a", "b"), (("x", 0.12345), ("y", None), ("z", 12345)), "Note.").markdown()
    assert text == "### Title\n\nNote.\n\n| a | b |\n|---|---:|\n| x | 0.123 |\n| y | – |\n| z | 12,345 |\n"
    assert all(licenses().values())


def test_tables_on_the_benchmarks(shared_data, capsys):
    more = ["--data", str(shared_data), "--populations", "1", "--tables", "kappa", "calibration", "--parts", "visible"]
    assert main(["--evaluate", "--measure", "indel", *more]) == 0
    assert "| random |" in capsys.readouterr().out


def test_a_fifth_of_the_concepts_is_set_aside_for_good(toy):
    t = load(str(toy))
    seen, kept = (set_aside_part.concepts_of(t, part) for part in set_aside_part.PARTS)
    assert seen | kept == set(range(len(t))) and not seen & kept and 0.1 < len(kept) / len(t) < 0.3
    visible = set_aside_part.without_set_aside(t)
    assert set(visible.ids) == {t.ids[k] for k in seen}
    assert set(visible.texts()).isdisjoint(t.names[k][0] for k in kept)
    assert all(visible.ids[p] in visible.ids for above in visible.parents for p in above)


def test_tables_of_one_part_use_none_of_the_others_concepts(toy):
    t = load(str(toy))
    kept = set_aside_part.concepts_of(t, "set-aside")
    hidden = frozenset().union(*(t.folded[k] for k in kept)) - frozenset().union(
        *(t.folded[k] for k in set_aside_part.concepts_of(t, "visible"))
    )
    visible = {text.casefold() for pair in tables.mix(t, 300, part="visible")[0] for text in pair}
    aside, truth = tables.mix(t, 300, part="set-aside")
    assert hidden.isdisjoint(visible)
    assert all(a.casefold() in hidden and b.casefold() in hidden for (a, b), y in zip(aside, truth, strict=True) if y)
    edges = [tables.direction(oracle(), [t], part).rows[0][1] for part in set_aside_part.PARTS]
    assert edges[1] == sum(len(t.parents[k]) for k in kept) and sum(edges) < 208
    for part in set_aside_part.PARTS:
        assert all(row[1] < 0.05 for row in tables.kappa(oracle(), [t], 1, part).rows)


def people(folder):
    """Three tiny annotators' tables in their own formats."""
    question = {
        "metadata": {"id": "q1"},
        "answers": {"clusters": {"a": {"answers": ["kidney pain", "pain of the kidney"]}, "b": {"answers": ["rash"]}}},
    }
    write(folder / "protoqa" / "dev.crowdsourced.jsonl", json.dumps(question) + "\n")
    case = {"case": 0, "readers": [[["Eczema"]], [["Psoriasis", "Acne"], ["eczema"]]]}
    (folder / "derm_ddx").mkdir()
    (folder / "derm_ddx" / "derm_ddx.jsonl.gz").write_bytes(gzip.compress((json.dumps(case) + "\n").encode()))
    rows = ["pmid\tmention\tconcept", "1\tskin cyst\tD1", "1\tcyst of the skin\tD1+D2", "1\tgout\tD3"]
    text = "\n".join(rows) + "\n"
    (folder / "ncbi_disease").mkdir()
    (folder / "ncbi_disease" / "mentions.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_answers_about_the_same_item(tmp_path):
    table = annotators.same_item(oracle(), people(tmp_path))
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["protoqa"] == (1, 1, 2, 1.0, 1.0, 0.0, 0.0)
    assert rows["derm_ddx"] == (1, 0, 3, None, None, 0.0, 0.0)
    assert rows["ncbi_disease"] == (1, 1, 2, 1.0, 1.0, 0.0, 0.0)
    items = [
        sum(row[1] for row in annotators.same_item(oracle(), tmp_path, part).rows) for part in set_aside_part.PARTS
    ]
    assert sum(items) == 3


@pytest.mark.parametrize(
    "file, content",
    [
        ("protoqa/dev.crowdsourced.jsonl", b"{}\n"),
        ("derm_ddx/derm_ddx.jsonl.gz", b"no gzip"),
        ("derm_ddx/derm_ddx.jsonl.gz", gzip.compress(b"[]\n")),
        ("ncbi_disease/mentions.tsv.gz", gzip.compress(b"pmid\tmention\n1\tgout\n")),
    ],
)
def test_a_damaged_table_of_answers_is_named(tmp_path, file, content):
    folder = people(tmp_path)
    (folder / file).write_bytes(content)
    with pytest.raises(InputError, match=file.split("/")[1].split(".")[0]):
        annotators.same_item(oracle(), folder)


def test_the_command_measures_the_parts_that_are_asked_for(shared_data, tmp_path, capsys):
    kept = tmp_path / "t.json"
    more = ["--data", str(shared_data), "--tables", "clusters", "same-item", "--json", str(kept)]
    assert main(["--evaluate", "--measure", "indel", "--parts", "visible", *more]) == 0
    measurements = json.loads(kept.read_text(encoding="utf-8"))
    assert [t["title"] for t in measurements["tables"]] == [
        "Clusters of crowd answers, visible part",
        "Answers about the same item, visible part",
    ]
    assert measurements["command"].endswith("--parts visible")
