"""The tables: on toy data with known answers, and the whole command."""

from __future__ import annotations

import pytest

import softirr
from lab.results_table import Table
from lab.train import challenge
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
    assert value(summary, "pairs") == len(pairs)
    assert (
        value(by_kind, "opposite", 4) == 0.5 and value(by_kind, "order", 3) == 1 and value(by_kind, "hypernym", 5) == 0
    )


def test_sentences(tmp_path):
    file = write(
        tmp_path / "n.tsv",
        "premise\thypothesis\tlabel\nsmall cyst\tcyst\tentailment\ncyst\tsmall cyst\tneutral\na\ta b\tentailment\n",
    )
    assert challenge.sentence_table(oracle(), [str(file)]).rows == (
        ("n", 3, pytest.approx(2 / 3), pytest.approx(2 / 3)),
    )


def test_the_command_prints_the_tables(root, capsys):
    challenges = [str(root / "tests" / "lab" / "train" / f"{name}.tsv") for name in ("challenge", "second_challenge")]
    assert main(["evaluate", "--measure", "indel", "--challenge", *challenges]) == 0
    out = capsys.readouterr().out
    assert "| look-alike | 38 |" in out
    assert [line for line in out.splitlines() if line.startswith("### ")] == [
        "### Challenge set challenge.tsv",
        "### Challenge set challenge.tsv by kind",
        "### Challenge set second_challenge.tsv",
        "### Challenge set second_challenge.tsv by kind",
    ]


@pytest.mark.parametrize("name", ["challenge.tsv", "second_challenge.tsv"])
def test_lexical_measures_are_worse_than_a_coin_on_the_challenge_sets(name, root):
    pairs = challenge.read_challenge(str(root / "tests" / "lab" / "train" / name))
    summary, _ = challenge.challenge_tables(softirr.measure("indel"), pairs, name)
    assert value(summary, "AUROC, equivalent against different") < 0.5
    assert value(summary, "opposites called equivalent") > 0.8


@pytest.mark.parametrize(
    "options, sentence",
    [
        ([], "nothing to measure on"),
        (["--challenge", "missing"], "can't be read"),
        (["--measure", "nonesuch"], "no measure"),
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
