"""A report as a person reads it in a terminal: the object of docs/reference/json.md in, lines of text out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from softirr.meaning.measures import SPEEDS
from softirr.meaning.measures.listing import CatalogueEntry
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.rules import Policy
from softirr.numbers import cell, in_terminal, interval, number
from softirr.plural import plural
from softirr.report.headline import headline_facts, is_exact
from softirr.report.next_step import advice
from softirr.report.triage import in_triage_order
from softirr.statistics.coefficients.registry import coefficient_name
from softirr.text import printable

__all__ = [
    "catalogue_lines",
    "measure_phrase",
    "policy_lines",
    "rater_pair_sentences",
    "report_blocks",
    "report_lines",
    "table_lines",
    "what_if_sentences",
]

_FIRST_SHOWN = 5
_LISTED = 3
_SEVERAL = 3
"""Items from which a reason of two raters is shown."""
_LEAST_CHANGE = 0.005
_WIDEST = 60


Block = str | tuple[Sequence[str], Sequence[Sequence[str]]]
"""A line of text, or the head and the rows of a table."""


def report_lines(report: Mapping[str, Any], *, source: str | None = None) -> Iterable[str]:
    """Lines of the readable form of a report.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
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
        What ``AgreementReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the heading.

    Yields
    ------
    str or tuple of (head, rows)
        A line, or a table.
    """
    start = "" if source is None else f"{printable(source)}: "
    policy, exact = Policy.from_dict(report["provenance"].get("policy") or {}), is_exact(report)
    yield (
        f"{start}{plural(report['n_items'], 'item')}, {plural(report['n_raters'], 'rater')}, "
        + (f"{printable(report['measure'])} values" if exact else measure_phrase(report["measure"], policy))
    )
    yield from policy_lines(policy)
    misfits = report.get("misfits", ())
    for misfit in misfits:
        yield f"Warning: {misfit}"
    yield ""
    yield from _headline(report)
    yield _coefficients(report["coefficients"])
    yield ""
    yield _chance(report["expected_agreement"])
    if "audit" in report:
        yield from _audit(report["audit"])
    yield ""
    yield (
        ("rater", "items", "agreement with the others"),
        [(printable(rater["id"]), str(rater["n_items"]), cell(rater["agreement"])) for rater in report["raters"]],
    )
    yield from _terminology(report)
    yield from _first(report["items"])
    yield from _reasons(report.get("reasons"))
    yield from _confusions(report.get("confusions", ()))
    if not exact:
        yield from _left_out(report["provenance"])
    yield from _excluded(report["excluded"])
    truncated = report["provenance"].get("truncated_texts")
    if truncated:
        yield f"{plural(truncated, 'text')} too long for the measure, cut at the end."
    for warning in report.get("warnings", ()):
        if warning not in misfits:
            yield f"Note: {warning}"


def _terminology(report: Mapping[str, Any]) -> Iterable[Block]:
    """How many texts the terminologies know."""
    coverage = report.get("terminology")
    if coverage is not None:
        names = ", ".join(printable(entry["name"]) for entry in report["provenance"]["terminologies"])
        yield ""
        yield f"Known to {names}: {coverage['known_texts']:,} of {plural(coverage['texts'], 'text')}."


def catalogue_lines(entries: Sequence[CatalogueEntry]) -> Iterable[str]:
    """Lines of the readable form of ``softirr measures``.

    Parameters
    ----------
    entries : sequence of CatalogueEntry
        What :func:`softirr.meaning.measures.listing.catalogue` gives.

    Yields
    ------
    str
    """
    yield from table_lines(
        ("measure", "speed", "runs on", "size", "labels", "what it is"),
        [
            (
                e.name,
                e.speed,
                e.device,
                e.size or "-",
                e.label_order or "-",
                e.summary if e.installed else f"{e.summary} (not on this machine)",
            )
            for e in entries
        ],
    )
    yield ""
    for speed, meaning in SPEEDS.items():
        yield f"{speed}: {meaning}"


def measure_phrase(measure: str, policy: Policy) -> str:
    """The measure, and that texts are compared as written where they are.

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
    """What counts as the same, where that is more than the texts as written.

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
    """A plain table: a heading, then one line a row, columns padded to their widest cell.

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


def _headline(report: Mapping[str, Any]) -> Iterable[str]:
    """The headline: the same, by the same rule, as in Label Studio."""
    facts = headline_facts(report, name_of=printable, fits=not report.get("misfits"))
    if facts is None:
        return
    yield from facts["sentences"]
    if step := advice(report):
        yield step
    yield ""


def _coefficients(coefficients: Mapping[str, Mapping[str, Any]]) -> Block:
    rows: list[tuple[str, ...]] = []
    for key, coefficient in coefficients.items():
        name = coefficient_name(key)
        if coefficient["value"] is None:
            rows.append((name, "undefined", coefficient["undefined"] or ""))
        else:
            rows.append((name, cell(coefficient["value"]), interval(coefficient["ci95"], 3, none="")))
    return ("coefficient", "value", "95% interval"), rows


def _chance(expected: Mapping[str, Any]) -> str:
    values = ", ".join(
        f"{name.capitalize()} {number(expected[name], 3)}"
        for name in ("cohen", "fleiss", "krippendorff")
        if expected.get(name) is not None
    )
    error = f", standard error {number(expected['standard_error'], 4)}" if expected.get("standard_error") else ""
    return (
        f"Expected agreement: {values or 'undefined'} ({expected['method']}{error}, "
        f"{plural(expected['pairs_scored'], 'pair')} scored)"
    )


def _audit(audit: Mapping[str, Any]) -> Iterable[str]:
    plain = ", ".join(
        f"{coefficient_name(key)} {cell(value)}" for key, value in audit["plain"].items() if value is not None
    )
    yield (
        f"Corrected by {plural(audit['judgments'], 'judgment')} of {plural(audit['asked'], 'pair')} in the "
        f"sheets; by the measure alone: {plain or 'nothing'}."
    )
    if judges := audit.get("judges_agreement"):
        alpha = in_terminal(number(judges["krippendorff_alpha"], none="not defined"))
        yield (
            f"The {audit['judges']} judges agree on {judges['observed_agreement']:.0%} of "
            f"{plural(judges['pairs'], 'pair')} (alpha {alpha})."
        )


def _reasons(reasons: Mapping[str, Any] | None) -> Iterable[Block]:
    """Why raters disagree, and what the headline would be if an attribute did not count."""
    if not reasons or not reasons["kinds"]:
        return
    yield ""
    yield (
        ("why texts do not match", "pairs", "items", "example"),
        [
            (one["name"], f"{one['pairs']:,}", f"{one['items']:,}", _shortened(printable(one["examples"][0]["words"])))
            for one in reasons["kinds"]
        ],
    )
    sentences = [*rater_pair_sentences(reasons["rater_pairs"]), *what_if_sentences(reasons["what_if"])]
    yield from ("", *sentences) if sentences else ()


def _confusions(confused: Sequence[Mapping[str, Any]]) -> Iterable[Block]:
    """The values that raters confuse."""
    if not confused:
        return
    yield ""
    yield (
        ("confused values", "", "pairs", "items", "such as"),
        [
            (
                *(_shortened(printable(value)) or "(none)" for value in one["values"]),
                f"{one['pairs']:,}",
                f"{one['items']:,}",
                ", ".join(map(printable, one["examples"][:_LISTED])),
            )
            for one in confused[:_FIRST_SHOWN]
        ],
    )


def _left_out(provenance: Mapping[str, Any]) -> Iterable[Block]:
    """That the reasons were not computed; reports of versions before this was possible have them."""
    if not (provenance.get("options") or {}).get("reasons", True):
        yield ""
        yield "Why texts do not match was left out (--no-reasons)."


def what_if_sentences(answers: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """What the headline coefficient would be without each attribute that changes it.

    Parameters
    ----------
    answers : sequence of mappings
        ``reasons.what_if`` of a report.

    Yields
    ------
    str
    """
    for one in answers:
        value, now = (number(one[of]) for of in ("value", "instead_of"))
        if value != now and abs(one["value"] - one["instead_of"]) >= _LEAST_CHANGE:
            name = coefficient_name(one["coefficient"])
            yield f"If {KIND_NAMES[one['attribute']]} did not count, {name} would be {value} instead of {now}."


def rater_pair_sentences(rater_pairs: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The rater pairs and the reasons that come up most often, where they come up in several items.

    Parameters
    ----------
    rater_pairs : sequence of mappings
        ``reasons.rater_pairs`` of a report.

    Yields
    ------
    str
    """
    pairs_shown = [
        (count / pair["n_items"], pair, kind)
        for pair in rater_pairs
        for kind, count in pair["kinds"].items()
        if kind in KIND_NAMES and count >= _SEVERAL
    ]
    for share, pair, kind in sorted(pairs_shown, key=lambda one: -one[0])[:_LISTED]:
        first, second = map(printable, pair["raters"])
        yield f"{first} and {second} disagree on {KIND_NAMES[kind]} in {share:.0%} of items."


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _first(items: Sequence[Mapping[str, Any]]) -> Iterable[Block]:
    scored = in_triage_order(items)
    if not scored:
        return
    yield ""
    yield (
        ("look at first", "agreement", "raters"),
        [
            (_shortened(printable(item["id"])), cell(item["agreement"]), str(item["n_raters"]))
            for item in scored[:_FIRST_SHOWN]
        ],
    )


def _excluded(excluded: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if not excluded:
        return
    reasons = Counter(entry["reason"] for entry in excluded)
    yield ""
    yield f"Left out: {plural(len(excluded), 'answer')} ({', '.join(f'{n} {why}' for why, n in reasons.items())})"
