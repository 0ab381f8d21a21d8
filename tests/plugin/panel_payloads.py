"""Panel payloads for every state the panel can be in."""

from typing import Any

HOSTILE = (
    "<img src=x onerror=\"window.__pwned='img'\">",
    "<script>window.__pwned='script'</script>",
    '"><svg onload="window.__pwned=\'svg\'">',
    "javascript:window.__pwned='url'",
    "</td></table><iframe srcdoc=\"<script>parent.__pwned='frame'</script>\">",
    "{{constructor.constructor('window.__pwned=1')()}}",
    "' onfocus='window.__pwned=2' autofocus='",
    "<style>*{display:none}</style>",
    "\u202egnitirw desrever\u202c",
)
NAMES = (
    "Ann Example",
    "Ben Sample",
    "Chloé Martin",
    "dora@example.com",
    "Emre Yılmaz",
    "Fatima Zahra",
    "Gus",
    "Hana Sato",
    "Ivo",
    "Jo Lee",
)


def other_fields(n: int = 3, value: str = "left", name: str = "side") -> list[dict[str, Any]]:
    """Choices, a set and a rating of n annotators."""
    raters = [{"id": str(2 + i), "name": NAMES[i]} for i in range(n)]
    ids = [one["id"] for one in raters]

    def field(name: str, kind: str, agreement: float | None, agreed: list[str] | None, *given: Any) -> dict[str, Any]:
        return {
            "name": name,
            "kind": kind,
            "agreement": agreement,
            "agreed": agreed,
            "agreed_by": "median" if kind == "ordinal" else "majority",
            "raters": raters,
            "values": [{"values": values, "raters": own} for values, own in given],
        }

    return [
        field(name, "nominal", 0.33, [value], ([value], ids[1:]), (["right"], ids[:1])),
        field("signs", "set", 0.5, [], ([], ids[1:]), (["red", "wet"], ids[:1])),
        field("stars", "ordinal", 0.82, ["4"], (["4"], ids[:1]), (["3"], ids[1:2]), (["5"], ids[2:])),
        field("ranking of the causes", "ranking", None, None, (["viral > bacterial > other"], ids[:1])),
    ]


def pairs(n: int) -> list[list[float | None]]:
    """A symmetric matrix with every shade in it."""
    return [[1.0 if i == j else round(abs(((i * 7 + j * 7) % 11) / 10), 2) for j in range(n)] for i in range(n)]


def ready(n: int = 3, **changes: Any) -> dict[str, Any]:
    """A task with n annotators who wrote sets."""
    raters = [{"id": str(2 + i), "name": NAMES[i]} for i in range(n)]
    ids = [rater["id"] for rater in raters]
    every = [
        "fever",
        "pyrexia",
        "high temperature",
        "febrile",
        "fever of 39 °C",
        "temperature raised",
        "hot",
        "fevers",
        "pyrexial",
        "feverish",
    ]
    payload = {
        "status": "ready",
        "message": "",
        "misfits": [],
        "project": {"id": 12, "title": "Findings", "n_items": 60},
        "headline": {
            "value": 0.61,
            "sentences": ["Krippendorff's alpha 0.61, 95% interval 0.55 to 0.67, no judgments.", "Tentative."],
            "references": "Tentative.",
        },
        "control": "findings",
        "threshold": 0.5,
        "task": {"id": 5271, "agreement": 0.42, "word": "moderate", "rank": 12, "n_ranked": 60, "n_raters": n},
        "raters": raters,
        "matrix": pairs(n),
        "matches": [
            {
                "texts": dict(zip(ids, every, strict=False)),
                "equivalence": 0.72,
                "relation": "equivalent",
                "support": n,
                "pairs": [
                    {"raters": [a, b], "equivalence": (0.97, 0.61, 0.57)[(i + j - 1) % 3]}
                    for i, a in enumerate(ids)
                    for j, b in enumerate(ids[i + 1 :], start=i + 1)
                ],
            },
            {
                "texts": {ids[0]: "chest infection", ids[1]: "pneumonia of the left lower lobe"},
                "equivalence": 0.58,
                "relation": "first is more general",
                "broader": ids[0],
                "support": 2,
            },
            {"texts": {ids[0]: "cough", ids[1]: "cough"}, "equivalence": 1.0, "relation": "equivalent", "support": 2},
        ],
        "unmatched": {ids[0]: ["no known allergies"], ids[-1]: ["penicillin allergy", "allergic to nothing"]},
        "suggestion": ["fever", "pneumonia of the left lower lobe", "cough"],
        "excluded": [{"rater": ids[1], "reason": "older answer of the same rater"}],
        "provenance": {"measure": "nli", "model": "bundled", "computed_at": "2026-11-20T13:11:29Z"},
        "viewer": {"can_decide": True, "name": "Rae Viewer", "role": "reviewer"},
        "links": {"report": "http://localhost:9090/report/12"},
        "verdict": f"{raters[-1]['name']} differs: right instead of left; alone has “penicillin allergy”.",
        "reasons": [
            {
                "kind": "severity",
                "name": "severity",
                "can_be_ignored": True,
                "words": "severe against no severity",
                "also": [],
                "raters": ids[:2],
                "texts": ["chest infection", "pneumonia of the left lower lobe"],
                "equivalence": 0.58,
            }
        ],
        "uncounted": [],
        "review": {"state": "open"},
        "how_to_accept": "To take it, open the tab “agreement” above and choose “Duplicate Annotation” in its menu.",
        "decisions": [],
    }
    return payload | changes


def single() -> dict[str, Any]:
    """Two annotators with one text each."""
    return ready(
        2,
        matches=[
            {
                "texts": {"2": "myocardial infarction", "3": "heart attack"},
                "equivalence": 0.94,
                "relation": "equivalent",
                "support": 2,
            }
        ],
        unmatched={},
        reasons=[],
        verdict="Ann Example and Ben Sample say the same.",
        suggestion=["myocardial infarction"],
        excluded=[],
        matrix=[[1, 0.94], [0.94, 1]],
        task={"id": 7, "agreement": 0.94, "word": "very high", "rank": 58, "n_ranked": 60, "n_raters": 2},
    )


def single_unmatched() -> dict[str, Any]:
    """Two annotators with one text each that mean different things."""
    return single() | {
        "matches": [],
        "unmatched": {"2": ["no fever"], "3": ["fever"]},
        "suggestion": [],
        "task": {"id": 8, "agreement": 0.03, "word": "very low", "rank": 1, "n_ranked": 60, "n_raters": 2},
    }


def decided() -> dict[str, Any]:
    """A task on which reviewers have decided."""
    payload = ready(3)
    one = {
        "id": 4,
        "texts": ["chest infection", "pneumonia of the left lower lobe"],
        "verdict": "same",
        "who": "Rae Viewer",
        "when": "2026-11-20T14:00:00Z",
    }
    two = {
        "id": 5,
        "texts": ["no known allergies", "penicillin allergy"],
        "verdict": "different",
        "who": "Rae Viewer",
        "when": "2026-11-20T14:01:00Z",
    }
    payload["matches"][1] |= {
        "decision": one,
        "equivalence": 1.0,
        "relation": "equivalent",
        "pairs": [{"raters": ["2", "3"], "equivalence": 1.0, "decision": one}],
    }
    payload["decisions"] = [one, two]
    payload["viewer"] = {"can_decide": True, "name": "Rae Viewer", "role": "reviewer"}
    payload["provenance"] |= {"policy": "clinical finding, any severity: severity does not count"}
    return payload


def unrelated() -> dict[str, Any]:
    """Three annotators, one row of whom is only the best that could be put side by side."""
    payload = ready(3)
    payload["matches"][1] = {
        "texts": {"2": "contusion", "3": "short of breath", "4": "SOB"},
        "equivalence": 0.08,
        "relation": "unrelated",
        "support": 1,
    }
    payload["unmatched"] = {"3": ["blue marks on both forearms"]}
    return payload


def several() -> dict[str, Any]:
    """A task with two free-text fields."""
    payload = ready(3)
    names = ("raters", "matrix", "matches", "unmatched", "suggestion", "excluded", "decisions")
    one = {name: payload[name] for name in names} | {"name": "findings", "agreement": 0.42, "n_raters": 3}
    other = single()
    two = {name: other[name] for name in names} | {"name": "diagnosis", "agreement": 0.94, "n_raters": 2}
    return payload | {"controls": [one, two]}


def long() -> dict[str, Any]:
    """Long texts, and a word without a break."""
    text = (
        "The patient, a retired teacher, reports that the pain began three weeks ago after a fall "
        "and has since moved to the left shoulder. " * 6
    )
    payload = ready(2)
    payload["matches"][0]["texts"] = {"2": text, "3": "Pain after a fall " + "x" * 300}
    payload["unmatched"] = {"2": [text], "3": ["y" * 400]}
    payload["suggestion"] = [text]
    return payload


def right_to_left() -> dict[str, Any]:
    """Arabic and Hebrew beside Latin text."""
    payload = ready(3)
    payload["raters"][1]["name"] = "ليلى حداد"
    payload["matches"][0]["texts"] = {"2": "ارتفاع في درجة الحرارة (39 °C)", "3": "حمى", "4": "חום גבוה"}
    payload["unmatched"] = {"2": ["لا يوجد حساسية معروفة."], "4": ["אלרגיה לפניצילין"]}
    payload["suggestion"] = ["حمى"]
    return payload


def hostile() -> dict[str, Any]:
    """Every text that people could have written is markup."""
    payload = ready(3)
    payload["raters"] = [{"id": str(2 + i), "name": HOSTILE[i]} for i in range(3)]
    payload["matches"] = [
        {
            "texts": {"2": text, "3": text + "!", "4": text + "?"},
            "equivalence": 0.5,
            "relation": HOSTILE[0],
            "support": 3,
        }
        for text in HOSTILE
    ]
    payload["unmatched"] = {"2": list(HOSTILE), "3": list(HOSTILE)}
    payload["suggestion"] = list(HOSTILE)
    payload["excluded"] = [{"rater": HOSTILE[1], "reason": HOSTILE[0]}]
    payload["links"] = {"report": "javascript:window.__pwned='link'"}
    payload["project"] |= {"title": HOSTILE[1]}
    payload["headline"] = {"value": 0.5, "sentences": [HOSTILE[0]], "references": None}
    payload["shows"] = {"kind": HOSTILE[0], "address": HOSTILE[3]}
    region = {"label": HOSTILE[0], "where": HOSTILE[1], "quote": HOSTILE[2], "box": [1, 2, 3, 4], "ratio": 1.5}
    payload["matches"][0]["regions"] = {"2": region | {"annotation": 1, "region": HOSTILE[0]}}
    payload["task"]["word"] = HOSTILE[0]
    payload["provenance"] = {
        "measure": HOSTILE[0],
        "model": HOSTILE[1],
        "policy": HOSTILE[0],
        "computed_at": HOSTILE[2],
    }
    payload["decisions"] = [
        {"id": 1, "texts": [HOSTILE[0], HOSTILE[1]], "verdict": "same", "who": HOSTILE[1], "when": HOSTILE[0]}
    ]
    payload["message"] = HOSTILE[0]
    payload["verdict"] = f"{HOSTILE[1]} differs: {HOSTILE[0]}."
    payload["reasons"] = [
        {
            "kind": "side",
            "name": "side",
            "can_be_ignored": True,
            "words": HOSTILE[0],
            "also": [],
            "raters": ["2", "3"],
            "texts": [HOSTILE[0], HOSTILE[0] + "!"],
            "equivalence": 0.1,
        }
    ]
    payload["uncounted"] = [{"id": 1, "attribute": "side", "task": 5271, "who": HOSTILE[1], "when": HOSTILE[0]}]
    payload["review"] = {"state": "done", "who": HOSTILE[0], "when": HOSTILE[1]}
    payload["other_fields"] = other_fields(3, value=HOSTILE[0], name=HOSTILE[4])
    return payload


def many() -> dict[str, Any]:
    """Eight annotators with eight texts each: half of the meanings are shared, the others differ."""
    payload = ready(8)
    ids = [rater["id"] for rater in payload["raters"]]
    findings = (
        "fever",
        "dry cough",
        "rash on both arms",
        "left knee pain",
        "nausea",
        "vomiting",
        "headache",
        "fatigue",
    )

    def match(text: str, who: list[str], low: float | None = None) -> dict[str, Any]:
        texts = {rater: text if place % 3 else f"{text}, reported by the patient" for place, rater in enumerate(who)}
        pairs = [
            {"raters": [a, b], "equivalence": low if low is not None and b == who[-1] else 0.9}
            for i, a in enumerate(who)
            for b in who[i + 1 :]
        ]
        mean = sum(one["equivalence"] for one in pairs) / len(pairs)
        return {"texts": texts, "equivalence": mean, "relation": "equivalent", "support": len(who), "pairs": pairs}

    payload["matches"] = [match(text, ids) for text in findings[:4]]
    payload["matches"] += [match(findings[4], ids, low=0.2), match(findings[5], ids[:6]), match(findings[6], ids[2:7])]
    payload["unmatched"] = {rater: [f"finding of {rater} only, {n}" for n in range(2)] for rater in ids[:5]}
    payload["reasons"] = []
    return payload


def regions() -> dict[str, Any]:
    """Texts of boxes in an image: one that Label Studio serves is cut out, else the box is drawn in its outline."""
    payload = ready(3)

    def at(rater: str, x: float, label: str = "Defekt") -> dict[str, Any]:
        words = f"{x:.0f} to {x + 20:.0f}% across, 10 to 30% down"
        box = {"box": [x, 10, 20, 20], "ratio": 1.5, "quote": ""}
        return {"label": label, "where": words, **box, "annotation": 30 + int(rater), "region": f"r{rater}{x}"}

    payload["matches"][0]["regions"] = {rater: at(rater, 10 + int(rater)) for rater in ("2", "3", "4")}
    payload["matches"][1]["regions"] = {"2": at("2", 60), "3": at("3", 62, "Kratzer")}
    payload["alone_regions"] = {"2": [at("2", 40)], "4": [at("4", 5), None]}
    payload["shows"] = {"kind": "image", "address": None}
    return payload


def quotes() -> dict[str, Any]:
    """Texts of spans of a transcript."""
    payload = ready(2)
    span = {"label": "Signe", "where": "12 to 40", "box": None, "ratio": None, "quote": "une toux sèche depuis lundi"}
    payload["matches"][0]["regions"] = {
        "2": span | {"annotation": 31, "region": "a"},
        "3": span | {"annotation": 32, "region": "b"},
    }
    return payload


def sent_back() -> dict[str, Any]:
    """A task with a long note."""
    note = "Bitte die Seite nennen und nur eine Beobachtung je Zeile, danke. " * 3
    return ready(3, review={"state": "sent back", "who": "Rae Viewer", "note": note + "x" * 48})


def not_ready(status: str, message: str = "", **more: Any) -> dict[str, Any]:
    """A state in which there is nothing to show."""
    return {
        "status": status,
        "message": message,
        "project": {"id": 12, "title": "Findings"},
        "task": {"id": 5271},
        "raters": [],
    } | more


STATES: dict[str, dict[str, Any]] = {
    "ready-3": ready(3),
    "ready-2-single": single(),
    "ready-2-unmatched": single_unmatched(),
    "ready-10": ready(10),
    "many": many(),
    "regions": regions(),
    "quotes": quotes(),
    "sent-back": sent_back(),
    "unrelated": unrelated(),
    "several-fields": several(),
    "other-fields": ready(3, other_fields=other_fields()),
    "other-fields-of-10": ready(10, other_fields=other_fields(10)),
    "decided": decided(),
    "long": long(),
    "right-to-left": right_to_left(),
    "hostile": hostile(),
    "pending": not_ready("pending", job={"done": 1200, "total": 5000}),
    "pending-unknown": not_ready("pending"),
    "blind": not_ready("blind"),
    "none": not_ready("none", "Only one annotator has answered so far."),
    "unavailable": not_ready("unavailable"),
}
