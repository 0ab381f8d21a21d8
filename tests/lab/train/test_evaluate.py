"""The tables: on toy data with known answers, and the whole command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lab.results_table import Table
from lab.terminologies import load
from lab.train import challenge, set_aside_part
from lab.train import evaluate as tables
from lab.train.__main__ import main
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
    summary, by_kind = challenge.challenge_tables(oracle(), pairs, "c.tsv")
    assert value(summary, "AUROC, equivalent against different") == 0.75
    assert value(summary, "opposites called equivalent") == 0.5
    assert value(summary, "equivalent pairs found") == 1
    assert value(summary, "directions right") == 1
    assert value(summary, "pairs", 2) < value(summary, "pairs") == len(pairs)
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


def test_sentences(tmp_path):
    file = write(
        tmp_path / "n.tsv",
        "premise\thypothesis\tlabel\nsmall cyst\tcyst\tentailment\ncyst\tsmall cyst\tneutral\na\ta b\tentailment\n",
    )
    assert tables.nli(oracle(), [file]).rows == (("n", 3, pytest.approx(2 / 3), pytest.approx(2 / 3)),)


def test_the_command_prints_and_writes_the_tables(root, tmp_path, capsys):
    file = tmp_path / "t.json"
    challenges = [str(root / "tests" / "lab" / "train" / f"{name}.tsv") for name in ("challenge", "second_challenge")]
    command = [
        "evaluate",
        "--measure",
        "indel",
        "--challenge",
        *challenges,
        "--tables",
        "challenge",
        "--json",
        str(file),
    ]
    assert main(command) == 0
    assert "| look-alike | 38 |" in capsys.readouterr().out
    assert [table["title"] for table in json.loads(file.read_text(encoding="utf-8"))] == [
        "Challenge set challenge.tsv",
        "Challenge set challenge.tsv by kind",
        "Challenge set second_challenge.tsv",
        "Challenge set second_challenge.tsv by kind",
    ]


def test_measure_has_the_requested_precision():
    assert tables.make("nli", "cpu", "float32").provenance().precision == "float32"
    assert tables.make("indel", precision="float32").score([("gout", "gout")])[0] == 1


@pytest.mark.parametrize("name", ["challenge.tsv", "second_challenge.tsv"])
def test_lexical_measures_are_worse_than_a_coin_on_the_challenge_sets(name, root):
    pairs = challenge.read_challenge(str(root / "tests" / "lab" / "train" / name))
    summary, _ = challenge.challenge_tables(tables.make("indel", "cpu"), pairs, name)
    assert value(summary, "AUROC, equivalent against different") < 0.5
    assert value(summary, "opposites called equivalent") > 0.8


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--tables", "kappa"], "nothing to measure on"),
        (["--data", "missing"], "not a folder"),
        (["--measure", "nonesuch"], "no measure"),
        (["--tables", "beauty"], "no table beauty"),
    ],
)
def test_unusable_requests_are_refused_in_one_sentence(options, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "--measure", "indel", *options]) == 2
    assert sentence in capsys.readouterr().err.strip().splitlines()[-1]


def test_a_challenge_set_needs_both_truths(tmp_path):
    file = write(tmp_path / "c.tsv", "kind\tfirst\tsecond\tgold\nlay\ta\tb\tequivalent\n")
    with pytest.raises(InputError, match="different"):
        challenge.read_challenge(str(file))


def test_tables_as_markdown():
    text = Table("Title", ("a", "b"), (("x", 0.12345), ("y", None), ("z", 12345)), "Note.").markdown()
    assert text == "### Title\n\nNote.\n\n| a | b |\n|---|---:|\n| x | 0.123 |\n| y | – |\n| z | 12,345 |\n"


def test_tables_on_the_benchmarks(shared_data, capsys):
    more = ["--data", str(shared_data), "--populations", "1", "--tables", "kappa", "calibration", "--parts", "visible"]
    assert main(["evaluate", "--measure", "indel", *more]) == 0
    assert "| random |" in capsys.readouterr().out


def test_a_fifth_of_the_concepts_is_set_aside_for_good(toy):
    t = load(str(toy))
    visible_concepts, set_aside = (set_aside_part.concepts_of(t, part) for part in set_aside_part.PARTS)
    assert (
        visible_concepts | set_aside == set(range(len(t)))
        and not visible_concepts & set_aside
        and 0.1 < len(set_aside) / len(t) < 0.3
    )
    visible = set_aside_part.without_set_aside(t)
    assert set(visible.ids) == {t.ids[k] for k in visible_concepts}
    assert set(visible.texts()).isdisjoint(t.names[k][0] for k in set_aside)
    assert all(visible.ids[p] in visible.ids for above in visible.parents for p in above)


def test_tables_of_one_part_use_none_of_the_others_concepts(toy):
    t = load(str(toy))
    set_aside = set_aside_part.concepts_of(t, "set-aside")
    hidden = frozenset().union(*(t.folded[k] for k in set_aside)) - frozenset().union(
        *(t.folded[k] for k in set_aside_part.concepts_of(t, "visible"))
    )
    visible = {text.casefold() for pair in tables.mix(t, 300, part="visible")[0] for text in pair}
    aside, truth = tables.mix(t, 300, part="set-aside")
    assert hidden.isdisjoint(visible)
    assert all(a.casefold() in hidden and b.casefold() in hidden for (a, b), y in zip(aside, truth, strict=True) if y)
    edges = [tables.direction(oracle(), [t], part).rows[0][1] for part in set_aside_part.PARTS]
    assert edges[1] == sum(len(t.parents[k]) for k in set_aside) and sum(edges) < 208
    for part in set_aside_part.PARTS:
        assert all(row[1] < 0.05 for row in tables.kappa(oracle(), [t], 1, part).rows)
