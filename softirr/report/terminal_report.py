"""A report as lines of text: it renders the view and computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.meaning.policy.rules import Policy
from softirr.numbers import cell, in_terminal, interval, number
from softirr.plural import plural
from softirr.report.headline import is_exact
from softirr.report.view import Names, View, view
from softirr.statistics.coefficients.registry import coefficient_name
from softirr.text import printable

__all__ = ["Block", "measure_phrase", "policy_lines", "report_blocks", "report_lines", "table_lines"]

_FIRST_ITEMS = 5
_FIRST_MEANINGS = 5
_WIDEST = 100

Block = str | tuple[Sequence[str], Sequence[Sequence[str]]]
"""A line of text, or the head and the rows of a table."""


def report_lines(report: Mapping[str, Any], *, source: str | None = None) -> Iterable[str]:
    """Lines of the readable form of a report.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``.
    source : str, optional
        Name of the input, for the heading.

    Yields
    ------
    str
    """
    for block in report_blocks(report, source=source):
        yield from (in_terminal(block),) if isinstance(block, str) else table_lines(*block)


def report_blocks(report: Mapping[str, Any], *, source: str | None = None) -> Iterable[Block]:
    """The readable form of a report as lines and tables.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``.
    source : str, optional
        Name of the input, for the heading.

    Yields
    ------
    str or tuple of (head, rows)
        A line, or a table.
    """
    shown = view(report, Names())
    start = "" if source is None else f"{printable(source)}: "
    measured = f"{printable(report['measure'])} values" if is_exact(report) else f"measure {report['measure']}"
    yield f"{start}{plural(shown.n_items, 'item')}, {plural(shown.n_raters, 'rater')}, {measured}"
    misfits = report.get("misfits", ())
    yield from (f"Warning: {misfit}" for misfit in misfits)
    yield ""
    yield from _verdict(shown)
    yield ""
    yield ("coefficient", "value", "95% interval"), [_coefficient(row) for row in shown.coefficients]
    yield from (f"{term}: {value}" for term, value in shown.facts if term in ("Expected by chance", "Terminologies"))
    if "audit" in report:
        yield from _audit(report["audit"])
    yield from _people(shown)
    yield from _items(shown)
    yield from _reasons(shown)
    yield from _meanings(shown)
    if not (report["provenance"].get("options") or {}).get("reasons", True) and not is_exact(report):
        yield from ("", "Why texts do not match was left out (--no-reasons).")
    if shown.excluded:
        n = sum(count for _, count in shown.excluded)
        yield from ("", f"Left out: {plural(n, 'answer')} ({', '.join(f'{n} {why}' for why, n in shown.excluded)})")
    yield from (f"Note: {warning}" for warning in shown.warnings if warning not in misfits)


def _verdict(shown: View) -> Iterable[str]:
    yield shown.verdict.sentence
    if shown.verdict.basis:
        yield _plain(shown.verdict.basis)
    if shown.cause is not None:
        yield shown.cause.sentence
    if shown.next_step is not None:
        yield f"Next: {shown.next_step.sentence}"
        yield from (f"  {example}" for example in shown.next_step.examples)
    yield from map(_plain, shown.what_if)


def _plain(sentence: str) -> str:
    """A sentence with names of coefficients as the tables write them."""
    return sentence.replace("’", "'")


def _coefficient(row: Any) -> tuple[str, ...]:
    if row.value is None:
        return coefficient_name(row.key), "undefined", row.undefined or ""
    return coefficient_name(row.key), cell(row.value), interval(row.ci95, none="")


def _audit(audit: Mapping[str, Any]) -> Iterable[str]:
    plain = ", ".join(
        f"{coefficient_name(key)} {cell(value)}" for key, value in audit["plain"].items() if value is not None
    )
    yield (
        f"Corrected by {plural(audit['judgments'], 'judgment')} of {plural(audit['asked'], 'pair')} in the "
        f"sheets; by the measure alone: {plain or 'nothing'}."
    )
    if judges := audit.get("judges_agreement"):
        alpha = number(judges["krippendorff_alpha"], none="not defined")
        yield (
            f"The {audit['judges']} judges agree on {judges['observed_agreement']:.0%} of "
            f"{plural(judges['pairs'], 'pair')} (alpha {alpha})."
        )


def _people(shown: View) -> Iterable[Block]:
    has_detail = any(row.detail for row in shown.people)
    head = ("rater", "items", "agreement", "95% interval", *(["level of detail"] if has_detail else []))
    rows = [
        (
            row.name,
            f"{row.n_items:,}",
            cell(row.agreement),
            interval(row.ci95, none=""),
            *([row.detail] if has_detail else []),
        )
        for row in shown.people
    ]
    yield from ("", (head, rows))


def _items(shown: View) -> Iterable[Block]:
    items = [row for row in shown.items if row.agreement < 1][:_FIRST_ITEMS]
    if items:
        rows = [(_shortened(row.name), cell(row.agreement), printable(row.sentence)) for row in items]
        yield from ("", (("look at first", "agreement", "what differs"), rows))


def _reasons(shown: View) -> Iterable[Block]:
    if shown.reasons:
        yield from ("", (("why texts do not match", "items"), [(name, f"{n:,}") for name, n in shown.reasons]))


def _meanings(shown: View) -> Iterable[Block]:
    if shown.meanings:
        rows = [
            (
                _shortened(row.name),
                f"{row.n_items:,}",
                _shortened(", ".join(text for text, _ in row.texts if text != row.name)),
            )
            for row in shown.meanings[:_FIRST_MEANINGS]
        ]
        yield from ("", (("meaning", "items", "also written"), rows))


def measure_phrase(measure: str, policy: Policy) -> str:
    """The measure, and that texts are compared as written if no policy changes that.

    Parameters
    ----------
    measure : str
    policy : Policy

    Returns
    -------
    str

    Examples
    --------
    >>> measure_phrase("indel", Policy())
    'measure indel, texts as written'
    """
    return f"measure {measure}{', texts as written' if policy.is_default else ''}"


def policy_lines(policy: Policy) -> Iterable[str]:
    """What counts as the same, if that is more than the texts as written.

    Parameters
    ----------
    policy : Policy

    Yields
    ------
    str
    """
    if not policy.is_default:
        yield f"What counts as the same: {printable(policy.describe())}"


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """A plain table: a heading, then one line for each row, with columns padded to their widest cell.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequence of str
        Cells as they are shown.

    Yields
    ------
    str
    """
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, *rows):
        yield in_terminal("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
