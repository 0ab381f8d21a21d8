"""Answers to chats and to controls with React code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import Cli
from tests.answers.plain_rows import json_file, refusal
from tests.cases.builders import (
    EXACT,
    USERS,
    chat,
    observed,
    result,
    task,
    textarea,
)


class TestChatAndReactCode:
    """label-studio-sdk chat_data.json; Label Studio docs chat.md and reactcode.md."""

    def chats(self, *, only_messages: bool) -> list[dict[str, Any]]:
        replies = {1: ("Restart it.", "Turn it off."), 2: ("Yes.", "Yes."), 3: ("Ask Kim.", "Ask Lou.")}
        quality = {1: ("poor", "poor"), 2: ("good", "good"), 3: ("good", "poor")}
        return [
            task(
                number,
                {
                    rater: [
                        chat(0, "user", f"Question {number}?"),
                        chat(1, "assistant", replies[number][k]),
                        *(
                            ()
                            if only_messages
                            else (
                                result("quality", "choices", {"choices": [quality[number][k]]}, id="m1"),
                                textarea("remark", "fine" if number != 2 else f"fine, says {rater}", id="x"),
                            )
                        ),
                    ]
                    for k, rater in enumerate(USERS)
                },
            )
            for number in replies
        ]

    def test_messages_are_counted_and_categories_of_a_message_compared(self, tmp_path: Path, cli: Cli) -> None:
        report = cli("score", json_file(tmp_path / "chat.json", self.chats(only_messages=False)), *EXACT)
        assert observed(report) == pytest.approx(2 / 3)
        kinds = {row["name"]: (row["kind"], row["n_items"]) for row in report["fields"]}
        assert kinds == {"remark": ("text", 3), "quality": ("nominal", 3)}
        assert any("12 of type chatmessage. --control talk compares" in warning for warning in report["warnings"])

    def test_replies_are_compared_turn_by_turn_if_nothing_else_is_there(self, tmp_path: Path, cli: Cli) -> None:
        report = cli("score", json_file(tmp_path / "chat.json", self.chats(only_messages=True)), *EXACT)
        assert [item["id"] for item in report["items"]] == ["1/1", "2/1", "3/1"]
        assert observed(report) == pytest.approx(1 / 3)
        assert any("6 of type chatmessage" in warning for warning in report["warnings"])

    def test_keys_of_reactcode_are_fields(self, tmp_path: Path, cli: Cli) -> None:
        values = {1: ("ok", "ok", 3), 2: ("bad", "ok", 5), 3: ("ok", "ok", 2)}
        tasks = [
            task(
                number,
                {
                    rater: [
                        result(
                            "form",
                            "reactcode",
                            {
                                "reactcode": {
                                    "verdict": verdict,
                                    "grade": grade + k,
                                    "note": f"{rater} {number}",
                                    "ids": {"a": 1},
                                }
                            },
                        )
                    ]
                    for k, (rater, verdict) in enumerate(zip(USERS, (first, second), strict=True))
                },
            )
            for number, (first, second, grade) in values.items()
        ]
        path = json_file(tmp_path / "react.json", tasks)
        assert "form.verdict, form.note" in refusal(path, kind="auto")
        report = cli("score", path, "--field", "form.verdict=nominal", "--json")
        assert observed(report) == pytest.approx(2 / 3)
        assert any("18 of type reactcode" in warning for warning in report["warnings"])
        assert cli("score", path, "--field", "form.grade", "--json")["provenance"]["kind"] == "ordinal"
        assert observed(cli("score", path, "--control", "form.note", *EXACT)) == 0
