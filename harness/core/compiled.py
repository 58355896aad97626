"""An import, the first of a package, that fails where one of its modules is not compiled.

Uncompiled, the loops take a hundred times as long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from harness.core.errors import NotCompiledError


def require_compiled(stubs: Iterable[Path]) -> None:
    """Raise NotCompiledError where beside one of the stubs there is no module for this Python.

    Compiled modules have such files of their types, and no others.
    """
    missing = [
        stub.with_suffix("")
        for stub in sorted(stubs)
        if not any(stub.with_suffix(ending).exists() for ending in EXTENSION_SUFFIXES)
    ]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise NotCompiledError(
            f"{missing[0]}{more}: not compiled for Python {version}\n"
            "in a clone: make demo, or pip install -e .\n"
            "after an edit: python setup.py build_ext --inplace"
        )


require_compiled(Path(__file__).parents[1].glob("*/*.pyi"))
