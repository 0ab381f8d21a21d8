"""Intervals from the first judgement on: they hold the truth at every number of judgements, and where somebody stops by looking."""

import numpy as np
import pytest

from softirr.lab.bench.audit_informed import Found, records_of, simulated, tables, trial

LOOKS = (0, 5, 10, 15, 20, 30, 45, 60)
PROJECTS = 60


@pytest.fixture(scope="module")
def found():
    result = {}
    for family in ("fair", "noise"):
        known = records_of(simulated(family, number, 0, 120) for number in range(80))
        result[family] = Found()
        for number in range(PROJECTS):
            trial(simulated(family, number, 1, 120), known, LOOKS, result[family])
    return result


@pytest.mark.slow
@pytest.mark.parametrize("family", ["fair", "noise"])
class TestCoverage:
    def test_at_every_number_of_judgements(self, found, family):
        # 60 projects: 95% has a standard error of 3 points; the seed is fixed
        covered = [found[family].coverage("informed", str(n)) for n in LOOKS]
        assert np.mean(covered) > 0.91 and min(covered) > 0.86

    def test_where_somebody_stops_by_looking(self, found, family):
        for rule in ("narrow", "clear of the target"):
            assert found[family].coverage("informed", rule) > 0.88
            assert min(found[family].judged[rule]) < 60

    def test_the_sequence_holds_at_all_looks_at_once(self, found, family):
        assert found[family].coverage("any time", "all looks") > 0.91

    def test_never_wider_than_the_judgements_alone(self, found, family):
        for n in LOOKS[2:]:
            assert found[family].mean_width("informed", str(n)) < found[family].mean_width("fixed", str(n)) + 0.005


def test_the_table_has_a_line_for_each_interval_and_for_its_parts():
    lines = list(tables((10, 20), 16, 0, ("good",)))
    names = [line.split(" | ")[1] for line in lines[2:]]
    assert names == ["fixed", "informed", "any time", "width of the judgements alone", "width of the items alone"]
    assert len({line.count("|") for line in lines}) == 1
    judged, items = ([float(cell) for cell in line.split(" | ")[3:5]] for line in lines[5:])
    assert judged[1] < judged[0] and items == pytest.approx([items[0]] * 2, abs=0.1)
