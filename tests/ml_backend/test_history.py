"""When the label config had which TextArea."""

from __future__ import annotations

import pytest

from ml_backend.labelstudio.history import has_now, was_there, with_controls

DAYS = [f"2026-11-{day:02d}T12:00:00.000000Z" for day in range(1, 10)]


def test_a_text_area_comes_and_goes() -> None:
    history = with_controls({"findings": [[None, None]]}, {"signs"}, DAYS[2])
    assert has_now(history) == {"signs"}
    history = with_controls(history, {"findings", "actions"}, DAYS[5])
    assert history == {
        "findings": [[None, DAYS[2]], [DAYS[5], None]],
        "signs": [[DAYS[2], DAYS[5]]],
        "actions": [[DAYS[5], None]],
    }
    assert [was_there(history["findings"], day) for day in DAYS] == [True] * 3 + [False] * 3 + [True] * 3
    assert [was_there(history["signs"], day) for day in DAYS] == [False] * 3 + [True] * 3 + [False] * 3


@pytest.mark.parametrize("moment", ["2026-11-04T12:00:00Z", "2026-11-04T13:00:00+01:00", "2026-11-04T12:00:00"])
def test_dates_in_any_form(moment: str) -> None:
    assert was_there([[DAYS[2], None]], moment)
    assert not was_there([[DAYS[3], None]], moment)


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-13-01"])
def test_a_date_that_is_none_takes_nothing_away(moment: str) -> None:
    assert was_there([[DAYS[2], None]], moment)
