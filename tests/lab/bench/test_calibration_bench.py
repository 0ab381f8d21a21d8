"""``softirr bench calibration``: a short version of the table in docs/explanation/audit-and-calibration.md."""

from __future__ import annotations

import pytest

from softirr.lab.bench import calibration


@pytest.mark.slow
def test_chance_at_its_own_prior_has_the_smallest_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibration.main(["--projects", "3", "--worlds", "20 concepts", "--measures", "fair", "perfect"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fair, perfect = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[-2:])
    assert [fair[:2], perfect[:2]] == [["20 concepts", "fair"], ["20 concepts", "perfect"]]
    plain, one_curve, own_prior, on_sheet, audit = map(float, fair[2:7])
    assert own_prior < one_curve < plain
    assert max(on_sheet, audit) < plain
    assert float(perfect[2]) == 0, "the truth needs no calibration"


def test_projects_that_cannot_calibrate_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--projects", "2", "--judgements", "5", "--worlds", "8 concepts", "--measures", "good"]
    assert calibration.main(options) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "| 8 concepts | good | – | – | – | – | – | 2 |"
