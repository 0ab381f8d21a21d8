"""``softirr report``: write methods, tables, a figure and limitations for a paper, and an evidence bundle.

``softirr verify`` checks one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from softirr.cli.arguments import (
    add_also,
    add_json,
    add_model_options,
    add_scoring,
    agreement_options,
    chosen_policy,
    made_measure,
    scoring,
)
from softirr.cli.read_answers import add_input_options, read_table
from softirr.defaults import SCHEMA_VERSION
from softirr.errors import InputError, writing
from softirr.terminal import print_json

__all__ = ["add_command"]

_FORMATS = ("markdown", "latex", "docx", "html")
_NOT_KEPT = {
    *("run", "file", "output_format", "output", "bibtex", "bundle", "without_texts", "sheets", "json"),
    *(
        "cache",
        "device",
        "engine",
        "precision",
        "terminology",
        "policy",
        "ignore",
        "count",
        "more_general",
        "split",
    ),
}
"""Options that a bundle does not take over: where things run and are written, and files, which it does not hold."""


def add_command(commands: Any) -> None:
    """Add ``report`` and ``verify`` to the commands."""
    report = commands.add_parser("report", help="write methods, tables, a figure and limitations for a paper")
    _add_options(report)
    report.set_defaults(run=_report)
    verify = commands.add_parser("verify", help="check an evidence bundle and compute its numbers again")
    verify.add_argument("bundle", metavar="BUNDLE", help="file written by softirr report --bundle")
    verify.add_argument("--data", metavar="FILE", help="the file of answers, if the bundle contains no texts")
    verify.add_argument(
        "--sheets", nargs="+", default=[], metavar="SHEET", help="the judged sheets, if the bundle contains no texts"
    )
    verify.add_argument("--measure", metavar="NAME", help="the measure, if it uses a model other than the bundled one")
    add_model_options(verify)
    add_json(verify)
    verify.set_defaults(run=_verify)


def _add_options(report: argparse.ArgumentParser) -> None:
    add_input_options(report, format="--input-format")
    report.add_argument(
        "--format", dest="output_format", choices=_FORMATS, default="markdown", help="what to write (markdown)"
    )
    report.add_argument("--output", metavar="FILE", help="file to write (standard output; docx needs a file)")
    report.add_argument(
        "--sheets", nargs="+", default=[], metavar="SHEET", help="judged audit sheets, which correct the coefficients"
    )
    report.add_argument("--bibtex", metavar="FILE", help="write the references as BibTeX")
    report.add_argument("--bundle", metavar="FILE", help="write an evidence bundle (ZIP) for softirr verify")
    report.add_argument(
        "--without-texts",
        action="store_true",
        help="exclude data, sheets and texts from the bundle, but keep their hashes",
    )
    add_scoring(report)
    add_also(report)


def _report(arguments: argparse.Namespace) -> int:
    from softirr.paper.document import document
    from softirr.paper.references import bibtex
    from softirr.paper.writers import FORMATS, as_markdown, beyond_latin
    from softirr.report.next_step import advice

    if arguments.output_format == "docx" and arguments.output is None:
        raise InputError("A Word file can't be printed: name a file with --output.")
    if arguments.without_texts and not arguments.bundle:
        raise InputError("--without-texts needs --bundle.")
    if arguments.bundle and arguments.file == "-":
        raise InputError("A bundle contains the file: name a file instead of standard input.")
    if arguments.bundle and Path(arguments.file).is_dir():
        raise InputError("A bundle contains one file: make a ZIP archive of the folder, and name it instead.")
    report = _computed(arguments)
    paper = document(report, sentence=advice(report))
    written = FORMATS[arguments.output_format](paper)
    if arguments.output_format == "latex" and (n := beyond_latin(paper)):
        print(
            f"pdflatex has no sign for {n:,} of the letters: compile the file with lualatex or xelatex.",
            file=sys.stderr,
        )
    if arguments.bibtex:
        _write(arguments.bibtex, bibtex(paper.cited))
    if arguments.bundle:
        _write(arguments.bundle, _bundled(arguments, report, as_markdown(paper)))
    if arguments.output:
        _write(arguments.output, written)
        print(f"{arguments.output} is written.")
    else:
        assert isinstance(written, str)
        print(written, end="")
    return 0


def _computed(arguments: argparse.Namespace) -> dict[str, Any]:
    """The report of the file, audited where there are sheets."""
    from softirr.report.agreement import agreement

    table, measure = read_table(arguments), made_measure(arguments)
    with scoring(arguments) as kept:
        return agreement(
            table,
            measure,
            agreement_options(arguments),
            judgments=arguments.sheets,
            **kept,
        ).to_dict()


def _bundled(arguments: argparse.Namespace, report: dict[str, Any], markdown: str) -> bytes:
    from softirr.paper.bundle import make_bundle

    settings = {
        name: value
        for name, value in vars(arguments).items()
        if name not in _NOT_KEPT and isinstance(value, str | int | float | bool | list | None)
    }
    outside = [f"--{name}" for name in ("terminology",) if getattr(arguments, name, None)]
    return make_bundle(
        report,
        {**settings, "policy": chosen_policy(arguments).to_dict(), "outside": outside},
        (arguments.file, _bytes(arguments.file)),
        [(sheet, _bytes(sheet)) for sheet in arguments.sheets],
        texts=not arguments.without_texts,
        more={"report.md": markdown},
    )


def _verify(arguments: argparse.Namespace) -> int:
    from softirr.answers.source import refused
    from softirr.paper.bundle import Check, compared, read_bundle

    bundle = read_bundle(_bytes(arguments.bundle), Path(arguments.bundle).name)
    damage = (LookupError, TypeError, ValueError, AttributeError)
    with (
        tempfile.TemporaryDirectory() as folder,
        refused(f"{arguments.bundle} contains a manifest that softirr did not write.", *damage),
    ):
        checks, paths = _inputs(bundle, arguments, Path(folder))
        again, why = None, _not_again(bundle, arguments, paths)
        if why is None:
            with refused(f"{arguments.bundle} contains settings that no command accepts.", *damage):
                again = _computed(_settings(bundle, arguments, paths, Path(folder)))
        checks += compared(bundle, again)
    if why is not None:
        checks.append(Check("numbers", None, why))
    differs = any(check.ok is False for check in checks)
    if arguments.json:
        outcomes = [{"what": check.what, "ok": check.ok, "said": check.detail} for check in checks]
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "ok": not differs,
                "computed_again": again is not None,
                "checks": outcomes,
            }
        )
    else:
        for check in checks:
            print(check.line())
        print(
            "Something differs."
            if differs
            else "All that was compared is the same."
            if again
            else "The hashes are right; nothing was computed again."
        )
    return 1 if differs else 0


def _inputs(bundle: Any, arguments: argparse.Namespace, folder: Path) -> tuple[list[Any], dict[str, list[str]]]:
    """Data and sheets as files: of the bundle, or those named here if they have its hashes."""
    from hashlib import sha256

    from softirr.paper.bundle import Check

    checks: list[Any] = []
    paths: dict[str, list[str]] = {"data": [], "sheet": []}
    given = {"data": [arguments.data] if arguments.data else [], "sheet": list(arguments.sheets)}
    named = {
        sha256(content).hexdigest(): path
        for paths_of in given.values()
        for path in paths_of
        for content in (_bytes(path),)
    }
    for number, one in enumerate(bundle.manifest["inputs"]):
        role, name = str(one["role"]), str(one["name"])
        if one["member"] is not None:
            at = folder / f"{number}{Path(name).suffix}"
            at.write_bytes(bundle.members[str(one["member"])])
            paths[role].append(str(at))
        elif one["sha256"] in named:
            paths[role].append(named[one["sha256"]])
            checks.append(Check(name, True, "the file named here has the hash of the bundle"))
        elif given[role]:
            checks.append(Check(name, False, "no file named here has the hash of the bundle"))
    return checks, paths


def _not_again(bundle: Any, arguments: argparse.Namespace, paths: dict[str, list[str]]) -> str | None:
    """Why the numbers are not computed again; None where they are."""
    settings = bundle.manifest["settings"]
    if sum(map(len, paths.values())) < len(bundle.manifest["inputs"]):
        return "the bundle contains no texts: name the files with --data and --sheets"
    if settings.get("outside"):
        return f"the bundle was made with {' and '.join(map(str, settings['outside']))}, whose files it does not hold"
    measure = str(settings.get("measure"))
    if ":" in measure and arguments.measure is None:
        return f"the measure {measure[:80]} names a model: say --measure {measure[:80]} to load it"
    return None


def _settings(
    bundle: Any, arguments: argparse.Namespace, paths: dict[str, list[str]], folder: Path
) -> argparse.Namespace:
    """The options of the report: the bundle's own, with files and devices of this machine."""
    parser = argparse.ArgumentParser()
    _add_options(parser)
    known = vars(parser.parse_args(["file"]))
    kept = {
        name: value for name, value in bundle.manifest["settings"].items() if name in known and name not in _NOT_KEPT
    }
    policy = folder / "policy.json"
    policy.write_text(json.dumps(bundle.manifest["settings"]["policy"]), encoding="utf-8")
    here = {name: getattr(arguments, name) for name in ("device", "precision", "engine", "cache")}
    if arguments.measure is not None:
        kept["measure"] = arguments.measure
    return argparse.Namespace(
        **{**known, **kept, **here, "policy": str(policy), "file": paths["data"][0], "sheets": paths["sheet"]}
    )


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from None


def _write(path: str, content: str | bytes) -> None:
    with writing(path):
        Path(path).write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
