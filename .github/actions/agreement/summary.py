"""Write the headline and the coefficients of a JSON report for GitHub Actions, without annotated texts."""

import json
import sys
from pathlib import Path


def summary(report):
    """A Markdown table of the coefficients of a report."""
    lines = ["| coefficient | value | 95% interval |", "|---|---|---|"]
    for name, entry in report.get("coefficients", {}).items():
        value, ends = entry["value"], entry["ci95"]
        interval = "" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"
        lines.append(f"| {name} | {'not defined' if value is None else f'{value:.3f}'} | {interval} |")
    return "\n".join(lines)


def main(report_file, output_file, summary_file):
    """Append the value of the headline to the outputs, and the tables to the summary of the job."""
    report = json.loads(Path(report_file).read_text(encoding="utf-8"))
    headline = report.get("headline") or {}
    with Path(output_file).open("a", encoding="utf-8") as outputs:
        outputs.write(f"value={headline.get('value', '')}\n")
    reports = report.get("texts", {"": report})
    with Path(summary_file).open("a", encoding="utf-8") as page:
        for name, one in reports.items():
            page.write(f"### Agreement{f' on {name}' if name else ''}\n\n{summary(one)}\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
