"""Metadata that a build derives from one variable, the address of the public repository.

Project URLs, and a README for the package index.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")
IMAGE = re.compile(r"<img src=\"(?![a-z]+:)([^\"]+)\"[^>]*>")


def project_urls(repository, version):
    """The entries of [project.urls]; none without a repository."""
    if not repository:
        return {}
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
    }


def index_readme(text, repository, version):
    """The README with absolute links and pictures.

    Without a repository, links become plain text and pictures are left out.
    """

    def link(match):
        picture, label, target = match.groups()
        if not repository:
            return "" if picture else label
        return f"{picture}[{label}]({repository}/{'raw' if picture else 'blob'}/v{version}/{target})"

    def image(match):
        if not repository:
            return ""
        return match[0].replace(f'"{match[1]}"', f'"{repository}/raw/v{version}/{match[1]}"')

    return IMAGE.sub(image, LINK.sub(link, text))


class CustomMetadataHook(MetadataHookInterface):
    """Sets what pyproject.toml lists as dynamic."""

    def update(self, metadata):
        """Add the URLs and the README; SOFTIRR_REPOSITORY takes precedence over pyproject.toml."""
        repository = (os.environ.get("SOFTIRR_REPOSITORY") or self.config.get("repository", "")).rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        readme = index_readme(text, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        metadata["urls"] = project_urls(repository, metadata["version"])
