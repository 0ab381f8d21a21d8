"""Payloads of the panel, as `GET /api/panel` answers them."""

from __future__ import annotations

from typing import Any

__all__ = ["HEBREW", "HOSTILE", "LONG", "ready"]

HOSTILE = "<img src=x onerror=alert(1)>"
HEBREW = "כאב ראש"
LONG = "a very long answer " * 40
NAMES = ("Ann Example", "Ben Sample", HOSTILE, "דנה כהן", "Eve Émile", "Finn " + "Long" * 12)


def ready(n_raters: int = 3, texts: tuple[str, ...] = ("fever", HEBREW, HOSTILE, LONG)) -> dict[str, Any]:
    """Return a task that a reviewer sees: a card for each text, and pairs in doubt."""
    raters = [{"id": str(number), "name": NAMES[number % len(NAMES)]} for number in range(n_raters)]
    ids = [rater["id"] for rater in raters]
    cards = [
        {
            "texts": [{"text": text, "raters": ids[: 1 + index % n_raters]}],
            "has": ids[: 1 + index % n_raters],
            "lacks": ids[1 + index % n_raters :],
            "why": {"name": "side", "text": texts[0]} if index else None,
            "pairs": [{"texts": [text, texts[0]], "decision": None, "specific": text}] if index else [],
        }
        for index, text in enumerate(texts)
    ]
    answers = {rater: list(texts[:2]) for rater in ids}
    field = {"name": "findings", "title": "findings", "kind": "text", "cards": cards}
    field |= {"suggestion": [texts[0]], "empty": []}
    values = [{"values": ["mild"], "raters": ids[:1]}, {"values": ["severe"], "raters": ids[1:]}]
    severity = {"name": "severity", "title": "severity", "kind": "nominal", "values": values}
    severity |= {"suggestion": None, "suggested_by": "majority"}
    return {
        "status": "ready",
        "message": "",
        "warnings": ["The texts look like German, which the measure does not know."],
        "project": {"id": 12, "title": "Findings"},
        "task": {"id": 5271, "agreement": 0.62},
        "sentence": f"Only Ann Example has “{HEBREW}”; 2 more differences.",
        "raters": raters,
        "fields": [{**field, "answers": answers, "written": {ids[0]: ["fever; cough"]}}, severity],
        "excluded": [{"name": NAMES[2], "reason": "skipped"}],
        "agreed": None,
        "review": {"state": "sent back", "who": NAMES[3], "note": LONG},
        "queue": {"done": 12, "total": 45},
        "causes": {"ambiguous": "ambiguous text", "guideline": "guideline gap", "slip": "slip"},
        "viewer": {"can_decide": True, "can_agree": True, "name": "Rae", "role": "reviewer"},
        "links": {"report": "report/12"},
    }
