"""The values of a printed report, by meaning: they do not depend on the version of the JSON schema."""

from __future__ import annotations

from typing import Any


def values(printed: dict[str, Any]) -> dict[str, Any]:
    """Values, intervals and matches of a report, or of each field of a file with several."""
    if "coefficients" not in printed:
        fields = printed.get("fields", printed)
        return {name: values(report) for name, report in fields.items() if isinstance(report, dict)}
    expected = printed["expected_agreement"]
    return {
        "coefficients": {name: _of(coefficient) for name, coefficient in printed["coefficients"].items()},
        "expected": {name: expected[name] for name in ("cohen", "fleiss", "krippendorff")},
        "raters": {
            rater["id"]: {
                "items": rater["n_items"],
                "agreement": rater["agreement"],
                "agreement_ci95": rater["agreement_ci95"],
                "cohen_kappa": _of(rater["cohen_kappa"]),
            }
            for rater in printed["raters"]
        },
        "rater_pairs": {
            " / ".join(sorted(pair["raters"])): {
                "items": pair["n_items"],
                "observed": pair["observed_agreement"],
                "cohen_kappa": _of(pair["cohen_kappa"]),
            }
            for pair in printed["rater_pairs"]
        },
        "items": {item["id"]: _of_item(item) for item in printed["items"]},
        "excluded": sorted(f"{row['item']} / {row['rater']}" for row in printed["excluded"]),
    }


def _of(coefficient: dict[str, Any]) -> dict[str, Any]:
    return {"value": coefficient["value"], "ci95": coefficient["ci95"]}


def _of_item(item: dict[str, Any]) -> dict[str, Any]:
    matches = [
        {"texts": dict(sorted(match["texts"].items())), "equivalence": match["equivalence"]}
        for match in item["matches"]
    ]
    return {
        "agreement": item["agreement"],
        "raters": item["n_raters"],
        "matches": sorted(matches, key=lambda match: str(match["texts"])),
        "unmatched": dict(sorted(item["unmatched"].items())),
        "suggestion": sorted(item["suggestion"]),
    }


def differences(expected: Any, actual: Any, tolerance: float, where: str = "") -> list[str]:
    """The places at which two values differ by more than the tolerance."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        problems = [f"{where}/{key} is missing" for key in expected if key not in actual]
        problems += [f"{where}/{key} is new" for key in actual if key not in expected]
        for key in expected.keys() & actual.keys():
            problems += differences(expected[key], actual[key], tolerance, f"{where}/{key}")
        return sorted(problems)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, tolerance, f"{where}/{i}")]
    if isinstance(expected, float | int) and isinstance(actual, float | int):
        return [] if abs(expected - actual) <= tolerance else [f"{where}: {expected!r} is now {actual!r}"]
    return [] if expected == actual else [f"{where}: {expected!r} is now {actual!r}"]
