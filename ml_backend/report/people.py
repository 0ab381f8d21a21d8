"""The report on annotators and pairs of annotators, and on annotators who write more general texts than others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.report.links import Links
from softirr.report.page.sentences import tendency_words


def rater_rows(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], links: Links
) -> list[dict[str, Any]]:
    """Each annotator, lowest agreement first."""
    left_out: dict[str, list[int]] = {}
    for row in rows:
        for rater, _ in row["excluded"]:
            left_out.setdefault(rater, []).append(row["number"])
    tendency = (summary.get("reasons") or {}).get("tendency", {})
    known = {rater["id"]: rater for rater in summary["raters"]}
    raters = []
    for rater, name in names.items():
        entry = known.get(rater, {"id": rater, "n_items": 0, "agreement": None})
        leaning = tendency.get(rater, {"more_general": 0, "more_specific": 0})
        raters.append(
            {
                "id": rater,
                "name": name,
                "n_items": entry["n_items"],
                "agreement": entry["agreement"],
                "ci95": entry.get("agreement_ci95"),
                "cohen_kappa": (entry.get("cohen_kappa") or {}).get("value"),
                "left_out": len(left_out.get(rater, ())),
                "left_out_link": links.tasks(list(dict.fromkeys(left_out[rater])), f"Answers of {name} left out")
                if rater in left_out
                else None,
                "general": leaning["more_general"],
                "specific": leaning["more_specific"],
                "tendency": tendency_words(leaning["more_general"], leaning["more_specific"]) if tendency else None,
                "link": links.annotated_by([rater], f"Answered by {name}"),
            }
        )
    return sorted(raters, key=lambda one: (one["agreement"] is None, one["agreement"] or 0.0, one["name"]))


def pair_rows(summary: Mapping[str, Any], names: Mapping[str, str], links: Links) -> list[dict[str, Any]]:
    """Each pair of annotators."""
    rows = []
    for pair in summary["rater_pairs"]:
        a, b = pair["raters"]
        rows.append(
            {
                "raters": [a, b],
                "names": [names.get(a, a), names.get(b, b)],
                "n_items": pair["n_items"],
                "observed_agreement": pair["observed_agreement"],
                "ci95": pair.get("observed_agreement_ci95"),
                "expected_agreement": pair["expected_agreement"],
                "cohen_kappa": (pair.get("cohen_kappa") or {}).get("value"),
                "link": links.annotated_by([a, b], f"{names.get(a, a)} and {names.get(b, b)}"),
            }
        )
    return rows
