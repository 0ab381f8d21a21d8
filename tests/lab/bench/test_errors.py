"""The record of the measures' errors: collected from tables with known codes, fitted, checked on what was kept aside."""

import json

import numpy as np
import pytest

from softirr.errors import InputError
from softirr.lab.bench import errors
from softirr.lab.bench.errors import aside, fit, main
from softirr.measures.known_errors import ANY


def rows(measure, slope, spread, rng, kinds=20, each=20, shift=0.05):
    """Populations of kinds whose errors differ from kind to kind."""
    found = []
    for kind in range(kinds):
        own = rng.normal(0, spread)
        for number in range(each):
            true = rng.uniform(0, 1)
            plain = (true - own - shift - rng.normal(0, spread / 2)) / slope
            values = dict.fromkeys(errors.COEFFICIENTS, plain)
            found.append(
                {
                    "measure": measure,
                    "model_sha256": None,
                    "items": 100,
                    "number": number,
                    "setting": "paper",
                    "source": f"source {kind % 5}",
                    "negatives": f"kind {kind // 5}",
                    "plain": values,
                    "true": dict.fromkeys(values, true),
                    "identical": dict.fromkeys(values, -1.0),
                }
            )
    return found


def test_the_record_holds_the_truth_of_kinds_that_it_never_saw():
    rng = np.random.default_rng(3)
    found = fit(rows("good", 1.2, 0.05, rng) + rows("bad", 1.5, 0.1, rng))
    assert set(found) == {"good", "bad", ANY}
    held = []
    for seed in range(8):  # a record is a draw itself: one alone may be lucky
        record = fit(rows("good", 1.2, 0.05, np.random.default_rng(seed), each=8))["good"]
        new = rows("good", 1.2, 0.05, np.random.default_rng(seed + 100), kinds=60, each=2)
        held.append(errors._coverage(new, "krippendorff_alpha", record["errors"]["krippendorff_alpha"]))
    assert 0.93 <= np.mean(held) <= 0.98
    scale = [found[name]["errors"]["krippendorff_alpha"]["scale"] for name in ("good", "bad", ANY)]
    assert scale[0] < scale[1] <= scale[2]


def test_a_record_of_few_kinds_is_predictive():
    """The populations of a kind err alike, so it is the number of kinds that tells how well their spread is known."""
    held = []
    for seed in range(30):
        found = fit(rows("good", 1.2, 0.08, np.random.default_rng(seed), kinds=4, each=8))
        new = rows("good", 1.2, 0.08, np.random.default_rng(seed + 100), kinds=60, each=2)
        held.append(errors._coverage(new, "krippendorff_alpha", found["good"]["errors"]["krippendorff_alpha"]))
    assert np.mean(held) > 0.93


def test_kinds_are_kept_aside_by_hash():
    mine = rows("good", 1.0, 0.05, np.random.default_rng(0), each=1, kinds=400)
    for number, row in enumerate(mine):
        row["source"] = f"source {number}"
    assert 0.15 < np.mean([aside(row) for row in mine]) < 0.35
    changed = [row | {"true": dict.fromkeys(row["true"], 0.0)} if aside(row) else row for row in mine]
    assert fit(mine) == fit(changed)


def test_from_annotated_tables_to_the_file(tmp_path, capsys):
    lines = ["item,rater,text,codes"]
    rng = np.random.default_rng(0)
    for item in range(210):
        meant = rng.integers(8, size=2) if rng.random() < 0.4 else rng.integers(8, size=1).repeat(2)
        lines += [
            f"{item},{who},finding {code} {rng.choice(['left', 'right'])},C{code}"
            for who, code in zip("ab", meant, strict=True)
        ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines))
    given = ["--errors", str(tmp_path / "errors.jsonl"), "--table", f"mine={table}", "--measures", "indel", "noise"]
    assert main([*given, "--write", str(tmp_path / "known.json")]) == 0
    first = capsys.readouterr().out
    assert "| indel | krippendorff_alpha |" in first and "| noise |" in first
    record = json.loads((tmp_path / "known.json").read_text())["measures"]
    assert set(record) == {"indel", ANY} and record["indel"]["populations"] == {"mine": pytest.approx(2, abs=1)}
    assert main(given) == 0  # nothing is collected twice
    assert capsys.readouterr().out == first
    assert len((tmp_path / "errors.jsonl").read_text().splitlines()) == 4


def test_nothing_to_fit_is_said():
    with pytest.raises(InputError, match="no errors to fit"):
        fit([])
