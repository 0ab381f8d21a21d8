"""A policy that is learned from judgements of some items helps on others, where they ignore an attribute."""

from __future__ import annotations

import json
from pathlib import Path

from softirr.lab.bench.combine import Answers
from softirr.lab.bench.learned import halves, judgements, main, row
from softirr.measures import measure
from softirr.policy.rules import AS_WRITTEN


def population(first: int) -> Answers:
    """Raters who differ in severity, which does not count."""
    pairs = [(f"severe finding x{n}", f"mild finding x{n + n % 2}") for n in range(first, first + 20)]
    meanings = [tuple(frozenset([text.split()[-1]]) for text in pair) for pair in pairs]
    return Answers(tuple(pairs), tuple((a, b) for a, b in meanings))


def test_what_was_learned_is_tried_on_other_items() -> None:
    judged = judgements([population(0), population(0)], 15)
    assert len(judged.pairs) == 15 == len(set(judged.pairs))
    assert set(judged.judged) == {0.0, 1.0}
    told, before, after = row(measure("exact"), judged, [population(100)], None)
    assert "severity does not count" in told
    assert after[0] < before[0] and after[1] == 1.0
    told, before, after = row(
        measure("exact"),
        judgements([Answers((("a", "b"),), ((frozenset("a"), frozenset("b")),))], 9),
        [population(0)],
        None,
    )
    assert told == AS_WRITTEN.told() and before == after


def test_halves_share_no_item(tmp_path: Path) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    folder = tmp_path / "benchmark" / "annotators" / "protoqa"
    folder.mkdir(parents=True)
    lines = [
        {
            "metadata": {"id": f"q{n}"},
            "answers": {"clusters": {"x": {"answers": {f"a{n}": 1, f"b{n}": 1}}, "y": {"answers": {f"c{n}": 1}}}},
        }
        for n in range(20)
    ]
    (folder / "dev.crowdsourced.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    judged, tried = (
        {text for answers in half for pair in answers.texts for text in pair} for half in halves(tmp_path, "protoqa", 1)
    )
    assert judged and tried and not judged & tried
    assert {text[1:] for text in judged}.isdisjoint(text[1:] for text in tried)
