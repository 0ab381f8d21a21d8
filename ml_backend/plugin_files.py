"""The location of the files for browsers: in the installed package, or next to it in a checkout."""

from pathlib import Path


def plugin_dir() -> Path:
    """Folder ``plugin``."""
    packaged = Path(__file__).parent / "plugin"
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / "plugin"
