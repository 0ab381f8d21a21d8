"""``python -m lab.bench coefficients``, short."""

from __future__ import annotations

import pytest

from lab.bench import coefficients
from lab.bench.__main__ import main


@pytest.mark.slow
class TestCommand:
    @pytest.mark.parametrize("options", [["--items", "-1"], ["--peer-items", "0"]])
    def test_unusable_options_are_one_sentence(self, options, capsys):
        with pytest.raises(SystemExit) as stop:
            main(["coefficients", *options])
        assert stop.value.code == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("lab: ")
        assert len(err.strip().splitlines()) == 1

    def test_coefficients(self, capsys):
        assert main(["coefficients", "--items", "60", "--peer-items", "30"]) == 0
        out = capsys.readouterr().out
        rows = {
            line.split(" | ")[0][2:]: line.strip("| ").split(" | ")
            for line in out.splitlines()
            if line.startswith("| ")
        }
        assert len(rows) == 6
        # softirr, krippendorff and NLTK came to the same alpha
        alphas = [row[5] for name, row in rows.items() if name.endswith(("matrix", "callable"))]
        assert len(alphas) == 3
        assert float(alphas[1]) == pytest.approx(float(alphas[0]), abs=1e-10)
        assert float(alphas[2]) == pytest.approx(float(alphas[0]), abs=1e-10)
        assert "krippendorff / softirr" in out


class TestParts:
    def test_peers_that_are_not_installed_are_named(self, monkeypatch, capsys):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert main(["coefficients"]) == 2
        assert "krippendorff and nltk" in capsys.readouterr().err

    def test_memory_is_that_of_the_line(self):
        """Each line has a separate process, so that earlier work does not count."""
        first = coefficients.timed(coefficients.softirr_on_matrix, 20)
        assert first.memory > 10
        assert first.wall > 0
        assert first.result == coefficients.timed(coefficients.softirr_on_matrix, 20).result
