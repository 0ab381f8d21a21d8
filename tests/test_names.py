"""One name for each thing: the table of CONTRIBUTING agrees with Python, the JSON, the command line and the pages."""

from __future__ import annotations

import dataclasses
import inspect
import re

import pytest

import softirr
from ml_backend.project_settings import ProjectSettings
from tests.documentation import PAGES, REFERENCE, programs


def _rows() -> list[list[str]]:
    """Rows of the table: thing, names in code, options, word on pages, words that are not used."""
    section = PAGES["CONTRIBUTING.md"].split("## One name for each thing")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def _code_names() -> set[str]:
    """Parameters of the public functions, settings of projects, and keys of the JSON."""
    functions = (softirr.agreement, softirr.read, softirr.compare, softirr.audit.draw_sheet)
    names = {name for function in functions for name in inspect.signature(function).parameters}
    for options in (softirr.AgreementOptions, softirr.ReadOptions, softirr.Policy, ProjectSettings):
        names |= {field.name for field in dataclasses.fields(options)}
    return names | set(re.findall(r"\w+", PAGES[f"{REFERENCE}json.md"]))


def _texts() -> dict[str, str]:
    """Everything that people read: pages and help, without code."""
    pages = {
        page: re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL) for page, text in PAGES.items()
    }
    pages.pop("CONTRIBUTING.md")
    return pages | {name: parser.format_help() for name, parser in programs().items()}


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_thing_has_one_name(row: list[str]) -> None:
    _, code_names, options, word, unused_words = row
    assert set(re.findall("`([^`]+)`", code_names)) <= _code_names()
    existing = {option for parser in programs().values() for option in parser._option_string_actions}
    assert set(re.findall("`([^`]+)`", options)) <= existing
    texts = _texts()
    assert any(word in text for text in texts.values()), f"No page uses {word}."
    for unused in filter(None, unused_words.split(", ")):
        pages = [name for name, text in texts.items() if re.search(rf"\b{unused}\b", text, flags=re.IGNORECASE)]
        assert pages == [], f"These use {unused}: the name is {word}."


def test_table_lists_the_main_things() -> None:
    assert len(_rows()) >= 10
