"""Baselines worth beating, one a file; each is named in a config by its import path."""

from pathlib import Path

from harness.core.compiled import require_compiled

require_compiled(Path(__file__).parent.glob("*.pyi"))
