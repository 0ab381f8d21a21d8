"""The command line: the JSON contract, the readable table, and bad input that ends in one sentence."""

import csv
import io
import json
import random
import re

import pytest

import softirr
from softirr.cli.main import main
from softirr.errors import on_command_line
from softirr.meaning.measures import families
from tests.documentation import programs
from tests.programs import run_python

CSV = """item,rater,text
1,ann,fever
1,bob,pyrexia
2,ann,cough
2,ann,headache
2,bob,head ache
2,bob,dry cough
3,ann,
3,bob,
4,ann,rash
4,bob,rash
"""

INDEL = ("--measure", "indel")


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(CSV)
    return str(path)


class TestScore:
    def test_json_equals_the_library(self, cli, answers):
        report = softirr.agreement(softirr.read(answers), measure="lcs").to_dict()
        printed = cli("score", answers, "--measure", "lcs", "--json")
        assert printed.pop("warnings") == [on_command_line(note) for note in report.pop("warnings")]
        assert printed == report

    def test_the_bundled_model_scores_when_no_measure_is_named(self, cli, answers):
        report = cli("score", answers, "--json")
        assert (report["measure"], report["provenance"]["model"]) == ("nli", "bundled nli, bundled multilingual")
        assert report["items"][0]["agreement"] > 0.5  # fever, pyrexia
        assert [item["agreement"] for item in report["items"]][2:] == [1.0, 1.0], "two empty answers agree"

    def test_table_is_readable(self, cli, answers):
        out = cli("score", answers)
        assert "4 items, 2 raters" in out
        assert "Krippendorff's alpha" in out
        assert not re.search(r"\b(nan|inf|None)\b", out)

    def test_casefold_makes_case_a_matter_of_spelling(self, cli, tmp_path):
        path = tmp_path / "case.csv"
        path.write_text("item,rater,text\n1,a,Fever\n1,b,fever\n2,a,x\n2,b,x\n")
        as_written, folded = (
            cli("score", path, "--measure", "exact", "--json", *more) for more in ((), ("--casefold",))
        )
        assert [as_written["items"][0]["agreement"], folded["items"][0]["agreement"]] == [0.0, 1.0]

    def test_no_reasons_leaves_out_why(self, cli, answers):
        everything, less = (cli("score", answers, *INDEL, "--json", *more) for more in ((), ("--no-reasons",)))
        assert everything["reasons"] is not None
        assert less["reasons"] is None
        assert less["coefficients"] == everything["coefficients"]
        assert "left out (--no-reasons)" in cli("score", answers, *INDEL, "--no-reasons")
        assert "left out (--no-reasons)" not in cli("score", answers, *INDEL)

    @pytest.mark.slow
    def test_lexical_measures_never_load_torch(self, answers):
        code = (
            "import sys; from softirr.cli.main import main; "
            f"main(['score', {answers!r}, '--measure', 'levenshtein', '--json']); "
            "assert not {'torch', 'transformers', 'openpyxl', 'pyarrow', 'pandas'} & set(sys.modules)"
        )
        run_python(code)


class TestMeasures:
    def test_every_measure_that_can_be_asked_for_is_listed(self, cli):
        assert {entry["name"].partition(":")[0] for entry in cli("measures", "--json")} == set(families())

    def test_listing_does_not_load_torch(self):
        code = (
            "import sys; from softirr.cli.main import main; main(['measures']); "
            "assert not {'torch', 'transformers'} & set(sys.modules)"
        )
        run_python(code)


class TestAudit:
    """From the sheet to the corrected coefficients, as a lead does it by hand."""

    @pytest.fixture
    def project(self, tmp_path):
        generator = random.Random(3)
        names = {
            concept: [f"{concept}{suffix}" for suffix in ("", " disease", " syndrome")] for concept in "abcdefghij"
        }
        lines = ["item,rater,text"]
        for item in range(80):
            first = generator.choice("abcdefghij")
            second = first if generator.random() < 0.7 else generator.choice("abcdefghij")
            lines += [f"{item},ann,{generator.choice(names[first])}", f"{item},ben,{generator.choice(names[second])}"]
        path = tmp_path / "project.csv"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def judged(self, cli, project, path, *options):
        rows = list(csv.DictReader(io.StringIO(cli("audit", "sample", project, *INDEL, *options))))
        assert list(rows[0]) == ["unit", "pair", "text_a", "text_b", "judgment"]
        for row in rows:
            row["judgment"] = "same" if row["text_a"][0] == row["text_b"][0] else "different"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return str(path), rows

    def test_judgements_correct_the_coefficient(self, cli, project, tmp_path):
        sheet, rows = self.judged(cli, project, tmp_path / "sheet.csv", "--judgments", "40")
        assert len(rows) == 40
        report = cli("audit", "apply", project, *INDEL, sheet, "--json")
        assert report["audit"]["judgments"] == 40
        by_measure = cli("score", project, *INDEL, "--json")["coefficients"]["cohen_kappa"]["value"]
        assert report["audit"]["plain"]["cohen_kappa"] == pytest.approx(by_measure, abs=1e-9)
        low, high = report["coefficients"]["cohen_kappa"]["ci95"]
        assert low < 0.7 < high  # 0.73 agree by concept, 0.1 by chance
        assert "0.05" in report["audit"]["needed_for_width"]

    def test_score_takes_the_same_sheet_by_every_name_of_the_option(self, cli, project, tmp_path):
        sheet, _ = self.judged(cli, project, tmp_path / "sheet.csv", "--judgements", "20")
        applied = cli("audit", "apply", project, *INDEL, sheet, "--json")
        for option in ("--judgments", "--judgements", "--sheets"):
            assert cli("score", project, *INDEL, option, sheet, "--json")["coefficients"] == applied["coefficients"]

    def test_more_can_be_judged_on_another_day(self, cli, project, tmp_path):
        first, rows = self.judged(cli, project, tmp_path / "first.csv", "--judgments", "20", "--seed", "7")
        more = ("--judgments", "50", "--without", first)
        second, second_rows = self.judged(cli, project, tmp_path / "second.csv", *more)
        assert (len(rows), len(second_rows)) == (20, 30)
        assert not {row["unit"] for row in rows} & {row["unit"] for row in second_rows}
        two_sheets = cli("audit", "apply", project, *INDEL, first, second, "--json")
        single_sheet, _ = self.judged(cli, project, tmp_path / "whole.csv", "--judgments", "50", "--seed", "7")
        assert (
            two_sheets["coefficients"] == cli("audit", "apply", project, *INDEL, single_sheet, "--json")["coefficients"]
        )
        assert cli("audit", "sample", project, *INDEL, *more, second, status=2).startswith(
            "softirr: Nothing is left to judge"
        )

    def test_a_sheet_of_something_else_is_refused(self, cli, project, answers):
        cli("audit", "apply", project, *INDEL, answers, status=2)


class TestBadInput:
    @pytest.mark.parametrize("words", [["score"], ["plan"], ["no"], []])
    def test_commands_that_do_not_exist_or_miss_something(self, cli, words):
        cli(*words, status=2)

    def test_no_overlap_is_a_reason_not_an_error(self, cli, capsys, tmp_path):
        path = tmp_path / "apart.csv"
        path.write_text("item,rater,text\n1,a,x\n2,b,y\n")
        coefficients = cli("score", path, *INDEL, "--json")["coefficients"]
        assert all(c["value"] is None and c["undefined"] for c in coefficients.values())
        assert main(["score", str(path), *INDEL, "--fail-below", "0.1"]) == 1
        assert "no coefficient is defined, but --fail-below requires 0.1" in capsys.readouterr().err


def test_a_headline_below_the_number_sets_the_exit_status(cli, capsys, answers):
    value = cli("score", answers, *INDEL, "--fail-below", "0.01", "--json")["headline"]["value"]
    assert main(["score", answers, *INDEL, "--fail-below", "0.99", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["headline"]["value"] == value
    assert err == f"softirr: Krippendorff's alpha is {value:.2f}, but --fail-below requires 0.99.\n"


def test_options_of_texts_are_noted_without_a_text(capsys, tmp_path):
    path = tmp_path / "fields.csv"
    path.write_text("item,rater,side\n1,ann,l\n1,bob,l\n2,ann,l\n2,bob,r\n")
    command = ["score", str(path), "--item", "item", "--rater", "rater", "--field", "side=nominal"]
    for options, words in ((["--policy", "finding", "--split", "lines"], "--policy, --split."), ([], "")):
        assert main([*command, *options]) == 0
        err = capsys.readouterr().err
        assert err.endswith(f"so this has no effect: {words}\n") if words else err == ""


def test_fail_below_names_the_field(capsys, tmp_path):
    path = tmp_path / "fields.csv"
    path.write_text("item,rater,text,severity\n1,ann,fever,1\n1,bob,rash,2\n2,ann,cough,3\n2,bob,cough,3\n")
    fields = ["--field", "severity=nominal", "--field", "text=text"]
    assert main(["score", str(path), *INDEL, *fields, "--fail-below", "0.9"]) == 1
    err = capsys.readouterr().err
    assert "softirr: Field severity: Krippendorff's alpha is" in err and "softirr: Text text:" in err


@pytest.mark.parametrize("name", sorted(programs()))
def test_every_option_has_help(name):
    assert [action.dest for action in programs()[name]._actions if not action.help] == []
