#!/usr/bin/env python3
"""Look up known vulnerabilities of every version in constraints.txt.

The exit status is 0 if none is known and 1 if one is known. If the advisories can't be reached, the script prints this
and ends with 0, or with 2 in CI (if the variable CI is set).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run pip-audit. Packages that it could not look up are listed; they do not count as free of vulnerabilities."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt"), "--format", "json"]
    command += ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--timeout", "15"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        packages = []
    vulnerable = [package for package in packages if "vulns" in package]
    if not vulnerable:
        last = done.stderr.strip().splitlines()[-1:] if not packages else ["the index knows none of the packages"]
        print(f"Not checked: the advisories of pypi.org can't be reached from here ({''.join(last)[:200]}).")
        return 2 if os.environ.get("CI") else 0
    bad = [(package, vulnerability) for package in vulnerable for vulnerability in package["vulns"]]
    for package, vulnerability in bad:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
        print(f"{package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}")
    left_out = [package["name"] for package in packages if "vulns" not in package]
    print(f"{len(vulnerable)} packages looked up, {len(bad)} known vulnerabilities.")
    if left_out:
        print(f"Not looked up, since the index does not know them: {', '.join(left_out)}.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
