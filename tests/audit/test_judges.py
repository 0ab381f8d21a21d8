"""Several judges of one audit, and their agreement."""

from __future__ import annotations

import random

import numpy as np
import pytest

from softirr.answers.sheets import CANT_TELL, DIFFERENT, SAME, VALUES
from softirr.audit import apply, draw_sheet, read_sheet
from softirr.errors import InputError
from tests.audit.judged_sheets import filled, single
from tests.statistics.evidence.concepts import judged, truth


class TestJudges:
    def test_several(self):
        table = single()
        sheet = draw_sheet(table, "indel", judgments=60)
        rng = random.Random(0)
        opposite = {DIFFERENT: SAME, SAME: DIFFERENT}
        noisy = judged(sheet, "bea", lambda a, b: truth(a, b) if rng.random() < 0.8 else opposite[truth(a, b)])
        report = apply(table, "indel", [judged(sheet, "abe"), noisy])
        judges_agreement = report.audit.judges_agreement
        first, second = ([judged.values[key] == SAME for key in noisy.values] for judged in (judged(sheet), noisy))
        agree = np.mean(np.equal(first, second))
        assert report.audit.judges == 2 and judges_agreement["pairs"] == 60
        assert judges_agreement["observed_agreement"] == pytest.approx(agree)
        share = np.mean(first + second)
        expected = (120 * (share**2 + (1 - share) ** 2) - 1) / 119
        assert judges_agreement["krippendorff_alpha"] == pytest.approx((agree - expected) / (1 - expected))
        line = f"The 2 judges agree on {agree:.0%} of 60 pairs (alpha {judges_agreement['krippendorff_alpha']:.2f})."
        assert line in str(report).splitlines()
        # the mean of both counts: between the two
        lone = [
            apply(table, "indel", [judgments]).coefficients["observed_agreement"].value
            for judgments in (judged(sheet), noisy)
        ]
        assert min(lone) <= report.coefficients["observed_agreement"].value <= max(lone)

    def test_of_one_mind(self):
        table = single()
        sheet = draw_sheet(table, "indel", judgments=60)
        report = apply(table, "indel", [judged(sheet, "abe"), judged(sheet, "bea")])
        assert report.coefficients == apply(table, "indel", [judged(sheet)]).coefficients
        assert report.audit.judges_agreement["observed_agreement"] == 1.0

    def test_changed_texts(self, tmp_path):
        table = single()
        text = filled(draw_sheet(table, "indel", judgments=20)).splitlines()
        text[5] = text[5].replace("c", "d", 3)
        (tmp_path / "s.csv").write_text("\n".join(text))
        with pytest.raises(
            InputError, match=r"s\.csv, line 6: the texts differ from the drawn ones|s\.csv, line 6: .*unit"
        ):
            apply(table, "indel", [tmp_path / "s.csv"])

    @pytest.mark.parametrize(
        "text, message",
        [
            ("a,b\n", "line 1 must have the columns unit,pair,text_a,text_b,judgment"),
            ("unit,pair,text_a,text_b,judgement\nu,1,a\n", "line 2: the row ends before the column text_b"),
            ("unit,pair,text_a,text_b,judgement\nu,one,a,b,same\n", "line 2: the pair is 'one'"),
            ("unit,pair,text_a,text_b,judgement\nu,1,a,b,equal\n", "line 2: the judgment is 'equal'"),
            ("unit,pair,text_a,text_b,judgement\n\nu,1,a,b,same\nu,1,a,b,different\n", "line 4: .*twice"),
            ('unit,pair,text_a,text_b,judgement\nu,1,"a,b,same\n', "not valid CSV"),
        ],
    )
    def test_files(self, tmp_path, text, message):
        (tmp_path / "s.csv").write_text(text)
        with pytest.raises(InputError, match=r"s\.csv.*" + message):
            read_sheet(tmp_path / "s.csv")

    def test_sheet_saved_by_a_spreadsheet_is_read(self, tmp_path):
        text = (
            "unit;pair;text_a;text_b;judgement;note\r\n"
            "u;1;a;b; SAME ;!\r\nu;2.0;a;c;Can’t  tell;\r\nv;1;a;b\r\n;;;;;\r\n"
        )
        (tmp_path / "s.csv").write_bytes(text.encode("utf-8-sig"))
        sheet = read_sheet(tmp_path / "s.csv", judge="Ann")
        assert sheet.judge == "Ann"
        assert sheet.values == {("u", 1): SAME, ("u", 2): CANT_TELL, ("v", 1): ""}
        assert sheet.texts["u", 1] == ("a", "b")
        assert sheet.place(("v", 1)).endswith("s.csv, line 4")
        assert {"same", "different", "can't tell"} < set(VALUES)
