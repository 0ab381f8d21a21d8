"""Populations whose raters differ in an attribute: what is true of them, and what the right policy costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench.policies import KINDS, concepts, populations
from softirr.cli.main import main
from softirr.meaning.policy.rules import Policy
from softirr.report.agreement import agreement

NAMES = ["fever", "cough", "rash", "knee pain", "nausea", "seizures", "tall stature", "hearing loss"]


@pytest.fixture
def terminology(tmp_path: Path) -> str:
    rows = [f"T:{n}\t{name}" for n, name in enumerate([*NAMES, "acute bronchitis", "a name of more than four words"])]
    (tmp_path / "concepts.tsv").write_text("\n".join(["id\tname", *rows]) + "\n")
    return f"test={tmp_path}"


def test_names_with_an_attribute_are_left_out(terminology: str) -> None:
    assert concepts(terminology) == sorted(NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_policy_finds_the_concepts_again(kind: str) -> None:
    """If the attribute does not count, what remains has to be the concept, in nearly every wording."""
    for population in populations(NAMES, kind, 2, seed=1):
        policy = Policy(ignore=frozenset({kind}))
        kappa = agreement(population.table, "exact", policy=policy).coefficients["cohen_kappa"].value
        assert kappa == pytest.approx(population.truth["does not count"], abs=0.01)
        assert population.truth["counts"] != population.truth["does not count"]


@pytest.mark.slow
def test_the_table_is_printed(terminology: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "policies", terminology, "--measure", "indel", "--populations", "1", "--cache", "none"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(KINDS) + 1
