"""Imported first by the scripts of this folder: ``tests`` is the folder above, not a module that a package installs."""

import sys
import types
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT))
_tests = types.ModuleType("tests")
_tests.__path__ = [str(_ROOT / "tests")]
sys.modules["tests"] = _tests
