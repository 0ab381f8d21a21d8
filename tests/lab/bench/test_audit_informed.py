"""Intervals from the first judgement on: they hold the truth at every number of judgements, and where somebody stops by looking."""

import numpy as np
import pytest

from softirr.audit.estimate import estimate
from softirr.lab.bench.audit_allocations import ALLOCATIONS, allocated, lines
from softirr.lab.bench.audit_informed import Found, record_tables, records_of, simulated, tables, trial
from softirr.lab.bench.audit_simulation import judge

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


def test_records_of_few_projects_have_a_line_for_each_size():
    _, _, *found = record_tables(0, 2, sizes=(12, 16), projects=4)
    assert [line.split(" | ")[:2] for line in found] == [
        [f"| {family}", size] for family in ("good", "fair", "noise") for size in ("12", "16")
    ]
    assert all(" of 2 |" in line for line in found)


class TestAllocations:
    @pytest.mark.parametrize("name", ALLOCATIONS)
    def test_each_pair_is_drawn_once_and_first_two_of_each_stratum(self, name):
        case = simulated("good", 3, 0, 60)
        design = allocated(case, name)
        draws = [draw for _, draw in zip(range(80), design.draws(), strict=False)]
        assert len(set(draws)) == len(draws)
        first = [(frame, (design.same, design.different)[frame].stratum[member]) for frame, member in draws[:14]]
        assert all(first.count(stratum) == 2 for stratum in set(first))

    def test_the_adaptive_one_begins_as_packaged(self):
        case = simulated("fair", 3, 0, 60)
        packaged, adaptive = (
            list(zip(range(12), allocated(case, n).draws(), strict=False)) for n in ("packaged", "adaptive")
        )
        assert packaged == adaptive

    def test_true_variances_spread_estimates_less(self):
        off = {"size": [], "truth": []}
        for number in range(40):
            case = simulated("good", number, 5, 100)
            for name, found in off.items():
                judged, draws = judge(design := allocated(case, name), case.same, 40)
                value = estimate(design, judged, draws, case.chance).coefficients["krippendorff_alpha"].value
                found.append(abs(value - case.table))
        assert np.mean(off["truth"]) < np.mean(off["size"])

    def test_the_table_has_a_line_for_each(self):
        found = list(lines("good", [simulated("good", 0, 0, 60)], (10, 20)))
        assert [line.split(" | ")[1] for line in found] == list(ALLOCATIONS)
