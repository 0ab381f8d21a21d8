"""The command line: the JSON contract, the readable table, and bad input that ends in one sentence."""

import csv
import io
import json
import random
import subprocess
import sys

import pytest

import softirr
from softirr.cli.main import main, parser
from softirr.measures import measure_names

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
COEFFICIENTS = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "sigma", "ks")


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(CSV)
    return str(path)


def run(capsys, *arguments):
    status = main(list(arguments))
    out, err = capsys.readouterr()
    return status, out, err


class TestScore:
    def test_json_is_the_contract(self, capsys, answers):
        status, out, err = run(capsys, "score", answers, "--measure", "indel", "--json")
        report = json.loads(out)
        assert (status, err) == (0, "")
        assert report["schema_version"] == 2
        assert (report["measure"], report["n_items"], report["n_raters"]) == ("indel", 4, 2)
        for name in COEFFICIENTS:
            assert set(report["coefficients"][name]) == {
                *("value", "standard_error", "ci95", "judgments", "undefined", "details")
            }
        assert {"cohen", "fleiss", "krippendorff", "method", "standard_error", "pairs_scored"} <= set(
            report["expected_agreement"]
        )
        assert {"id", "n_items", "agreement"} <= set(report["raters"][0])
        assert {"raters", "n_items", "observed_agreement", "expected_agreement", "cohen_kappa"} <= set(
            report["rater_pairs"][0]
        )
        item = report["items"][1]
        assert {"id", "agreement", "n_raters", "matches", "unmatched", "suggestion"} <= set(item)
        assert item["matches"][0]["texts"].keys() == {"ann", "bob"}
        assert {"equivalence", "relation", "support"} <= set(item["matches"][0])
        assert {"softirr", "measure", "model", "model_sha256", "device", "truncated_texts"} <= set(report["provenance"])

    def test_json_equals_the_library(self, capsys, answers):
        out = run(capsys, "score", answers, "--measure", "lcs", "--json")[1]
        assert json.loads(out) == softirr.agreement(softirr.read(answers), measure="lcs").to_dict()

    def test_the_bundled_model_scores_when_no_measure_is_named(self, capsys, answers):
        status, out, _ = run(capsys, "score", answers, "--json")
        report = json.loads(out)
        assert status == 0
        assert (report["measure"], report["provenance"]["model"]) == ("nli", "bundled nli")
        assert report["items"][0]["agreement"] > 0.5  # fever, pyrexia

    def test_table_is_readable(self, capsys, answers):
        status, out, _ = run(capsys, "score", answers)
        assert status == 0
        assert "4 items, 2 raters" in out
        assert "Krippendorff's alpha" in out
        assert "nan" not in out

    def test_an_empty_answer_agrees_with_an_empty_one(self, capsys, answers):
        report = json.loads(run(capsys, "score", answers, "--json")[1])
        assert [item["agreement"] for item in report["items"]][2:] == [1.0, 1.0]

    def test_casefold_makes_case_a_matter_of_spelling(self, capsys, tmp_path):
        path = tmp_path / "case.csv"
        path.write_text("item,rater,text\n1,a,Fever\n1,b,fever\n2,a,x\n2,b,x\n")
        plain = json.loads(run(capsys, "score", str(path), "--measure", "exact", "--json")[1])
        folded = json.loads(run(capsys, "score", str(path), "--measure", "exact", "--casefold", "--json")[1])
        assert [plain["items"][0]["agreement"], folded["items"][0]["agreement"]] == [0.0, 1.0]

    def test_no_reasons_leaves_out_why_and_nothing_else(self, capsys, answers):
        everything, less = (
            json.loads(run(capsys, "score", answers, "--measure", "indel", "--json", *more)[1])
            for more in ((), ("--no-reasons",))
        )
        assert everything["reasons"] is not None
        assert less["reasons"] is None
        assert [report["provenance"]["options"]["reasons"] for report in (everything, less)] == [True, False]
        for key in ("coefficients", "expected_agreement", "raters", "rater_pairs", "headline"):
            assert less[key] == everything[key]
        for one, other in zip(less["items"], everything["items"], strict=True):
            assert [match["equivalence"] for match in one["matches"]] == [m["equivalence"] for m in other["matches"]]
            assert (one["agreement"], one["suggestion"]) == (other["agreement"], other["suggestion"])
        assert "left out (--no-reasons)" in run(capsys, "score", answers, "--measure", "indel", "--no-reasons")[1]
        assert "left out (--no-reasons)" not in run(capsys, "score", answers, "--measure", "indel")[1]

    @pytest.mark.slow
    def test_standard_input(self):
        done = subprocess.run(
            [sys.executable, "-m", "softirr", "score", "-", *INDEL, "--json"],
            input=CSV,
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["n_items"] == 4

    @pytest.mark.slow
    def test_lexical_measures_never_load_torch(self, answers):
        code = (
            "import sys; from softirr.cli.main import main; "
            f"main(['score', {answers!r}, '--measure', 'levenshtein', '--json']); "
            "assert not {'torch', 'transformers'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


class TestMeasures:
    def test_every_measure_that_can_be_asked_for_is_listed(self, capsys):
        status, out, err = run(capsys, "measures", "--json")
        names = {entry["name"].partition(":")[0] for entry in json.loads(out)}
        assert (status, err) == (0, "")
        assert names == set(measure_names())

    def test_table(self, capsys):
        lines = run(capsys, "measures")[1].splitlines()
        assert lines[0].split()[:2] == ["measure", "speed"]
        assert any(line.startswith("indel ") for line in lines)

    def test_listing_does_not_load_torch(self):
        code = "import sys; from softirr.cli.main import main; main(['measures']); assert not {'torch', 'transformers'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


class TestAudit:
    """From the sheet to the corrected coefficients, as a lead does it by hand."""

    @pytest.fixture
    def project(self, tmp_path):
        drawn = random.Random(3)
        names = {concept: [f"{concept}{way}" for way in ("", " disease", " syndrome")] for concept in "abcdefghij"}
        lines = ["item,rater,text"]
        for item in range(80):
            first = drawn.choice("abcdefghij")
            second = first if drawn.random() < 0.7 else drawn.choice("abcdefghij")
            lines += [f"{item},ann,{drawn.choice(names[first])}", f"{item},ben,{drawn.choice(names[second])}"]
        path = tmp_path / "project.csv"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def judged(self, capsys, project, tmp_path, *options, name="sheet.csv"):
        status, out, _ = run(capsys, "audit", "sample", project, *INDEL, *options)
        assert status == 0
        rows = list(csv.DictReader(io.StringIO(out)))
        assert list(rows[0]) == ["unit", "pair", "text_a", "text_b", "judgement"]
        for row in rows:
            row["judgement"] = "same" if row["text_a"][0] == row["text_b"][0] else "different"
        path = tmp_path / name
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return str(path), rows

    def test_judgements_correct_the_coefficient(self, capsys, project, tmp_path):
        sheet, rows = self.judged(capsys, project, tmp_path, "--judgements", "40")
        assert len(rows) == 40
        status, out, err = run(capsys, "audit", "apply", project, *INDEL, sheet, "--json")
        report = json.loads(out)
        assert (status, err) == (0, "")
        assert report["audit"]["judgements"] == 40
        plain = json.loads(run(capsys, "score", project, *INDEL, "--json")[1])["coefficients"]["cohen_kappa"]["value"]
        assert report["audit"]["plain"]["cohen_kappa"] == pytest.approx(plain, abs=1e-9)
        low, high = report["coefficients"]["cohen_kappa"]["ci95"]
        assert low < 0.7 < high  # 0.73 agree by concept, 0.1 by chance
        assert "0.05" in report["audit"]["needed_for_width"]

    def test_readable_form(self, capsys, project, tmp_path):
        sheet, _ = self.judged(capsys, project, tmp_path)
        status, out, _ = run(capsys, "audit", "apply", project, *INDEL, sheet)
        assert status == 0
        assert "60 of 60 pairs of texts are judged." in out

    def test_more_can_be_judged_on_another_day(self, capsys, project, tmp_path):
        options = ("--judgements", "20", "--seed", "7")
        first, rows = self.judged(capsys, project, tmp_path, *options)
        more = ("--judgements", "50", "--without", first)
        second, others = self.judged(capsys, project, tmp_path, *more, name="second.csv")
        assert (len(rows), len(others)) == (20, 30)
        assert not {row["unit"] for row in rows} & {row["unit"] for row in others}
        both = json.loads(run(capsys, "audit", "apply", project, *INDEL, first, second, "--json")[1])
        whole, _ = self.judged(capsys, project, tmp_path, "--judgements", "50", "--seed", "7", name="whole.csv")
        at_once = json.loads(run(capsys, "audit", "apply", project, *INDEL, whole, "--json")[1])
        assert both["coefficients"] == at_once["coefficients"]
        status, out, err = run(
            capsys, "audit", "sample", project, *INDEL, "--judgements", "50", "--without", first, second
        )
        assert (status, out) == (2, "")
        assert err.startswith("softirr: Nothing is left to judge")

    def test_a_sheet_of_something_else_is_refused(self, capsys, project, answers):
        status, _, err = run(capsys, "audit", "apply", project, *INDEL, answers)
        assert status == 2
        assert err.count("\n") == 1


class TestCalibrate:
    def test_it_reports_and_changes_nothing(self, capsys, tmp_path):
        pairs = tmp_path / "pairs.csv"
        pairs.write_text("text_a,text_b,judgement\nfever,fevers,same\nfever,cough,different\n")
        status, out, err = run(capsys, "calibrate", str(pairs), "--measure", "indel")
        assert (status, err) == (0, "")
        assert out.startswith("indel: 2 judged pairs.\nExpected calibration error") and "nan" not in out
        assert run(capsys, "calibrate", str(pairs), "--measure", "indel", "--output", "x")[0] == 2


class TestBadInput:
    def said(self, capsys, *arguments):
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("softirr: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err

    def test_no_such_measure(self, capsys, answers):
        assert "the measures are exact, jaccard" in self.said(capsys, "score", answers, "--measure", "bleu")

    def test_a_lexical_measure_has_no_device(self, capsys, answers):
        assert "leave it out" in self.said(capsys, "score", answers, "--measure", "indel", "--device", "cpu")

    @pytest.mark.parametrize("command", ["train", "experiment"])
    def test_commands_of_their_own(self, capsys, command):
        with pytest.raises(SystemExit) as caught:
            main([command, "--no-such-option"])
        err = capsys.readouterr().err
        assert caught.value.code == 2
        assert err.startswith("softirr: ")
        assert err.count("\n") == 1

    @pytest.mark.parametrize("start", [b"", b"[", b'{"item": ', b"item,rater,text\n"])
    def test_megabytes_of_nonsense(self, capsys, tmp_path, start):
        path = tmp_path / "nonsense"
        path.write_bytes(start + random.Random(1).randbytes(1 << 16).hex().encode() * 64)
        self.said(capsys, "score", str(path))

    @pytest.mark.parametrize(
        "arguments",
        [["score"], ["score", "x", "--interval", "bootstrap"], ["unknown"], []],
    )
    def test_wrong_options_are_one_sentence_too(self, capsys, arguments):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        err = capsys.readouterr().err
        assert caught.value.code == 2
        assert err.count("\n") == 1

    def test_no_overlap_is_a_reason_not_an_error(self, capsys, tmp_path):
        path = tmp_path / "apart.csv"
        path.write_text("item,rater,text\n1,a,x\n2,b,y\n")
        status, out, _ = run(capsys, "score", str(path), *INDEL, "--json")
        coefficients = json.loads(out)["coefficients"]
        assert status == 0
        assert all(c["value"] is None and c["undefined"] for c in coefficients.values())
        status, _, err = run(capsys, "score", str(path), *INDEL, "--fail-below", "0.1")
        assert status == 1
        assert "no coefficient is defined, but --fail-below asks for 0.1" in err


def test_a_headline_below_the_number_sets_the_exit_status(capsys, answers):
    status, out, err = run(capsys, "score", answers, *INDEL, "--fail-below", "0.01", "--json")
    assert (status, err) == (0, "")
    value = json.loads(out)["headline"]["value"]
    status, out, err = run(capsys, "score", answers, *INDEL, "--fail-below", "0.99", "--json")
    assert status == 1
    assert json.loads(out)["headline"]["value"] == value
    assert err == f"softirr: Krippendorff's alpha is {value:.4f}, but --fail-below asks for 0.99.\n"


def test_fail_below_names_the_field(capsys, tmp_path):
    path = tmp_path / "fields.csv"
    path.write_text("item,rater,text,severity\n1,ann,fever,1\n1,bob,rash,2\n2,ann,cough,3\n2,bob,cough,3\n")
    fields = ["--field", "severity=nominal", "--field", "text=text"]
    status, _, err = run(capsys, "score", str(path), *INDEL, *fields, "--fail-below", "0.9")
    assert status == 1 and "softirr: Field severity: Krippendorff's alpha is" in err and "softirr: Text text:" in err


def test_every_option_has_help():
    def walk(command):
        for action in command._actions:
            assert action.help or action.dest == "==SUPPRESS==" or action.choices, (command.prog, action.dest)
            if isinstance(action.choices, dict):
                for inner in action.choices.values():
                    walk(inner)

    walk(parser())


def test_reading_a_stream():
    assert len(softirr.read(io.StringIO(CSV)).items) == 4
