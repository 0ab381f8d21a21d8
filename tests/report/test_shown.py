"""A report for people and programs: printed, in a notebook, as data frames; and where its numbers come from."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

import softirr
from tests import Cli

ROWS = [
    ("1", "<script>alert(1)</script>", "fever"),
    ("1", "bob", "fever"),
    ("2", "<script>alert(1)</script>", "cough"),
    ("2", "bob", "rash"),
    ("3", "<script>alert(1)</script>", "itch"),
]


@pytest.fixture
def table() -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(ROWS)


@pytest.fixture
def report(table: softirr.AnnotationTable) -> softirr.AgreementReport:
    return softirr.agreement(table, "indel")


class TestShown:
    def test_printed_as_the_command_line_does(self, tmp_path: Path, cli: Cli) -> None:
        (tmp_path / "a.csv").write_text("item,rater,text\n1,a,x\n1,b,xy\n2,a,z\n2,b,z\n")
        printed = cli("score", tmp_path / "a.csv", "--measure", "indel").removeprefix(f"{tmp_path / 'a.csv'}: ")
        assert str(softirr.agreement(softirr.read(tmp_path / "a.csv"), "indel")) + "\n" == printed

    def test_html_is_escaped(self, report: softirr.AgreementReport) -> None:
        html = report._repr_html_()
        assert "<script" not in html and "&lt;script&gt;alert(1)" in html
        assert "<table>" in html and "Krippendorff&#x27;s alpha" in html

    def test_the_audit_too(self) -> None:
        rows = [(str(i), who, f"text {i} {who if i % 2 else ''}") for i in range(12) for who in ("<b>ann", "bob")]
        table = softirr.AnnotationTable.from_answers(rows)
        sheet = softirr.audit.draw_sheet(table, "indel", seed=3)
        judged = io.StringIO(
            "".join(f"{line}different\n" if i else f"{line}\n" for i, line in enumerate(sheet.to_csv().splitlines()))
        )
        report = softirr.audit.apply(table, "indel", [softirr.audit.read_sheet(judged)])
        assert "Corrected by" in str(report) and "\n" not in repr(report) and "<b>" not in report._repr_html_()
        assert report.to_frame().loc["sigma", "undefined"] == "judgments do not correct it"
        assert "of raters and of rater pairs. Items are scored by the measure alone" in report.to_dict()["warnings"][-1]
        provenance = report.to_dict()["provenance"]
        assert provenance["record"] == "indel"


class TestFrames:
    def test_nothing_to_compare(self) -> None:
        table = softirr.AnnotationTable.from_answers([softirr.Answer("1", "a", "x")])
        assert [len(softirr.agreement(table, "exact").to_frame(kind)) for kind in ("items", "raters", "pairs")] == [
            1,
            1,
            0,
        ]

    def test_without_pandas(self, report: softirr.AgreementReport, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(softirr.InputError, match="Data frames need pandas: pip install pandas"):
            report.to_frame()


class TestProvenance:
    def of(self, table: softirr.AnnotationTable, **options: Any) -> dict[str, Any]:
        return dict(
            softirr.agreement(table, "indel", options=softirr.AgreementOptions(**options)).to_dict()["provenance"]
        )

    def test_options_and_seed(self, table: softirr.AnnotationTable) -> None:
        provenance = self.of(table, chance="permutation", permutations=7, seed=11, assignment="greedy")
        assert provenance["seed"] == 11
        assert provenance["options"] == {
            "chance": "permutation",
            "permutations": 7,
            "target_error": None,
            "assignment": "greedy",
            "marginals": "answers",
            "casefold": False,
            "threshold": 0.5,
            "reasons": True,
            "split": None,
            "weights": None,
        }

    def test_options_that_were_not_used_are_none(self, table: softirr.AnnotationTable) -> None:
        exact = self.of(table)["options"]
        assert (exact["chance"], exact["permutations"], exact["target_error"]) == ("auto", None, None)
        sampled = self.of(table, chance="sample")["options"]
        assert (sampled["target_error"], sampled["permutations"]) == (0.001, None)

    def test_the_hash_of_a_file(self, tmp_path: Path) -> None:
        data = "\ufeffitem,rater,text\r\n1,a,Ä\r\n1,b,ä\r\n".encode()
        (tmp_path / "a.csv").write_bytes(data)
        provenance = self.of(softirr.read(tmp_path / "a.csv", casefold=True))
        assert provenance["input_sha256"] == hashlib.sha256(data).hexdigest()
        assert provenance["options"]["casefold"] is True

    def test_the_hash_of_answers(self, table: softirr.AnnotationTable) -> None:
        reordered = softirr.AnnotationTable.from_answers(reversed(ROWS))
        shortened = softirr.AnnotationTable.from_answers(ROWS[:-1])
        hashes = [self.of(answers)["input_sha256"] for answers in (table, reordered, shortened)]
        assert hashes[0] == hashes[1] != hashes[2]
