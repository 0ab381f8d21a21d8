"""Calls from Python: data frames with named columns, missing marks in lists, charts, and errors with parameters."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import softirr
from softirr.errors import InputError

WIDE = pd.DataFrame({"ann": ["fever", "cough", "rash"], "bob": ["fevers", "rash", "rash"]}, index=["x", "y", "z"])


READING = softirr.ReadOptions(raters=["ann", "bob"])


class TestFrames:
    def test_a_wide_frame_whose_index_is_the_items(self):
        report = softirr.agreement(WIDE, "exact", raters=["ann", "bob"])
        assert [item.id for item in report.items] == ["x", "y", "z"]
        assert report.coefficients["observed_agreement"].value == pytest.approx(1 / 3)
        assert softirr.fleiss_kappa(WIDE, "exact", reading=READING) == report.coefficients["fleiss_kappa"]

    def test_a_long_frame_with_columns_of_other_names(self):
        rows = [(i, who, WIDE.loc[i, who]) for i in WIDE.index for who in WIDE.columns]
        frame = pd.DataFrame(rows, columns=["case", "nurse", "remark"])
        report = softirr.agreement(frame, "exact", item="case", rater="nurse", text="remark")
        assert (
            report.to_dict()["coefficients"]
            == softirr.agreement(WIDE, "exact", raters=["ann", "bob"]).to_dict()["coefficients"]
        )

    def test_options_of_reading_are_refused_for_a_table(self):
        table = softirr.read(WIDE, raters=["ann", "bob"])
        with pytest.raises(InputError, match=r"read already: give raters to softirr\.read"):
            softirr.agreement(table, "exact", raters=["ann"])


_ROWS = [
    (1, "ann", "fever"),
    ("１", "ben ", "fever"),
    ("é", "ann", "cough"),
    ("e\u0301", "ben", "rash"),
    ("3", "ann", "NA"),
    (3.0, "ben", "NA"),
    (4, "ann", ["pain", "n/a"]),
    (4, "ben", "pain"),
    (5, "ann", None),
]


@pytest.mark.parametrize("form", ["rows", "dictionary"])
def test_rows_and_dictionaries_are_read_as_a_data_frame(form):
    by_rater = {rater: {item: text for item, who, text in _ROWS if who.strip() == rater} for rater in ("ann", "ben")}
    report = softirr.agreement({"rows": _ROWS, "dictionary": by_rater}[form], "exact")
    of_frame = softirr.agreement(pd.DataFrame(_ROWS, columns=["item", "rater", "text"]), "exact")
    assert report.coefficients["observed_agreement"].value == pytest.approx(2 / 3)
    assert {name: kappa.value for name, kappa in report.coefficients.items()} == pytest.approx(
        {name: kappa.value for name, kappa in of_frame.coefficients.items()}
    )
    assert report.n_items == of_frame.n_items == 5
    assert sorted(map(repr, report.excluded)) == sorted(map(repr, of_frame.excluded)) != []


class TestMarksForMissing:
    A, B = ["NA", "n/a", "-", "fever", "cough"], ["NA", "x", "-", "fever", "rash"]

    @pytest.mark.parametrize("function", [softirr.cohen_kappa, softirr.krippendorff_alpha])
    def test_marks_are_missing_and_counted(self, function):
        with pytest.warns(UserWarning, match=r'5 texts count as missing .*a 3 \(NA, N/A, -\), b 2 .*missing="none"'):
            coefficient = function(self.A, self.B, "exact")
        assert coefficient.value == function(["fever", "cough"], ["fever", "rash"], "exact").value

    def test_none_takes_every_text_for_an_answer(self):
        assert softirr.cohen_kappa(self.A, self.B, "exact", missing="none").value == pytest.approx(6 / 11)

    def test_doubtful_texts_count_with_a_warning(self):
        with pytest.warns(
            UserWarning, match=r'may mean that an answer is missing: a 1 \(none\).*missing=\["auto", "none"\]'
        ):
            softirr.cohen_kappa(["none", "fever", "cough"], ["x", "fever", "rash"], "exact")

    def test_minus_is_an_answer_if_plus_is_used(self):
        with pytest.warns(UserWarning, match="count as answers"):
            assert softirr.cohen_kappa(["+", "-", "+", "-"], ["+", "-", "-", "-"], "exact").value == pytest.approx(0.5)


def test_a_report_draws_each_coefficient_with_its_interval():
    report = softirr.agreement(WIDE, "indel", raters=["ann", "bob"])
    svg = report.to_svg()
    for key, coefficient in report.coefficients.items():
        assert f">{softirr.statistics.coefficients.registry.coefficient_name(key)}<" in svg.replace("&#x27;", "'")
        assert coefficient.value is None or f"{coefficient.value:.2f}" in svg


class TestErrors:
    def test_path_with_the_name_of_the_program_is_not_a_command(self, tmp_path, cli, monkeypatch):
        (tmp_path / "softirr data").mkdir()
        (tmp_path / "softirr data" / "bad.csv").write_text("case,ann,bob\n1,x,y\n2,x,x\n")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError) as error:
            softirr.read("softirr data/bad.csv")
        assert 'item="COLUMN", raters=["COLUMN", "COLUMN"]' in str(error.value) and "--" not in str(error.value)
        printed = cli("score", "softirr data/bad.csv", status=2)
        assert "--item COLUMN --raters COLUMN,COLUMN" in printed and "item=" not in printed

    def test_notes_have_parameters_in_python_and_options_on_the_command_line(self, tmp_path, cli):
        path = tmp_path / "blank.csv"
        path.write_text("item,rater,text\n1,ann,fever\n1,ben,\n1,cem,rash\n2,ann,n/a\n2,ben,rash\n2,cem,rash\n")
        in_python = " ".join(softirr.agreement(softirr.read(path), "exact").warnings)
        printed = cli("score", path, "--measure", "exact")
        assert 'missing="none"' in in_python and " --" not in in_python and "\ue000" not in in_python
        assert "say --missing none" in printed and "missing=" not in printed and "\ue000" not in printed
        assert json.loads(json.dumps(softirr.agreement(softirr.read(path), "exact").to_dict()))["warnings"]
