"""Write the version and the repository of pyproject.toml into every other file that names them.

`python3 .ci/release.py` writes, `--check` only lists what differs, and `python3 .ci/release.py 0.3.0` sets the version
first. The repository is the variable `repository` of `[tool.hatch.metadata.hooks.custom]`; while it is empty, no file
has an address.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = r"\d+\.\d+\.\d+(?:[a-z]+\d+)?"
PLACES = {
    "CITATION.cff": r"^version: (VERSION)$",
    "docker-compose.yml": r"image: softirr:(VERSION)$",
    "ml_backend/Dockerfile": r"--tag softirr:(VERSION) ",
    "ml_backend/docker-compose.gpu.yml": r"image: softirr:(VERSION)-gpu$",
    "docs/how-to/deploy.md": r"softirr\[ray\]==(VERSION)\"",
    "docs/how-to/github-action.md": r"/actions/agreement@v(VERSION)$",
    "docs/how-to/which-number.md": r"estimated with softirr (VERSION) ",
}
"""File -> the one place of the version in it."""


def in_text(text, pattern, version):
    """The text with the version in the one place that the pattern describes."""
    matches = list(re.finditer(pattern.replace("VERSION", VERSION), text, flags=re.MULTILINE))
    if len(matches) != 1:
        raise SystemExit(f"{pattern}: {len(matches)} places, but there must be one.")
    return text[: matches[0].start(1)] + version + text[matches[0].end(1) :]


def in_json(text, version, key, value):
    """The JSON object with the version and, if there is a repository, its address."""
    text = in_text(text, r'^  "version": "(VERSION)"', version)
    record = json.loads(text)
    if record.get(key) == (value or None):
        return text
    record.pop(key, None)
    return json.dumps(record | ({key: value} if value else {}), indent=2, ensure_ascii=False) + "\n"


CONDA_RECIPE = ".ci/conda/meta.yaml"
CONDA_NAMES = {"huggingface-hub": "huggingface_hub", "torch": "pytorch"}
"""Name on the Python package index -> name on conda-forge, if they differ."""


def in_recipe(text, settings):
    """The conda recipe with the version, the build tool and the requirements of pyproject.toml."""
    project = settings["project"]
    text = in_text(text, r'^  version: "(VERSION)"$', project["version"])
    python = project["requires-python"]
    blocks = {"host": [f"python {python}", "pip", *settings["build-system"]["requires"]]}
    blocks["run"] = [f"python {python}", *project["dependencies"]]
    for name, requirements in blocks.items():
        lines = "".join(f"    - {conda_requirement(requirement)}\n" for requirement in requirements)
        text = re.sub(rf"(^  {name}:\n)(?:    - .*\n)+", lambda match, lines=lines: match[1] + lines, text, flags=re.M)
    return text


def conda_requirement(requirement):
    """A requirement as conda writes it: the name, a space, the versions."""
    name, versions = re.fullmatch(r"([\w.-]+) ?(.*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {versions}".strip()


def derived(settings, repository):
    """File -> its text as it should be."""
    version = settings["project"]["version"]
    read = {name: (ROOT / name).read_text(encoding="utf-8") for name in (*PLACES, "codemeta.json", ".zenodo.json")}
    texts = {name: in_text(read[name], pattern, version) for name, pattern in PLACES.items()}
    citation = re.sub(r"^repository-code: .*\n", "", texts["CITATION.cff"], flags=re.MULTILINE)
    address = f'repository-code: "{repository}"\n' if repository else ""
    texts["CITATION.cff"] = re.sub(r"^(version: .*\n)", rf"\g<1>{address}", citation, flags=re.MULTILINE)
    texts["codemeta.json"] = in_json(read["codemeta.json"], version, "codeRepository", repository)
    related = [{"identifier": repository, "relation": "isSupplementTo"}] if repository else None
    texts[".zenodo.json"] = in_json(read[".zenodo.json"], version, "related_identifiers", related)
    texts[CONDA_RECIPE] = in_recipe((ROOT / CONDA_RECIPE).read_text(encoding="utf-8"), settings)
    return texts


def main(arguments):
    """Run the command; its exit status."""
    source = ROOT / "pyproject.toml"
    for version in (argument for argument in arguments if not argument.startswith("--")):
        source.write_text(
            in_text(source.read_text(encoding="utf-8"), r'^version = "(VERSION)"', version), encoding="utf-8"
        )
    settings = tomllib.loads(source.read_text(encoding="utf-8"))
    repository = settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    texts = derived(settings, repository)
    stale = [name for name, text in texts.items() if text != (ROOT / name).read_text(encoding="utf-8")]
    for name in stale:
        print(f"{name} differs from pyproject.toml." if "--check" in arguments else f"{name} written.")
        if "--check" not in arguments:
            (ROOT / name).write_text(texts[name], encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
