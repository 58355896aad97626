"""Modules that are compiled, as the Python that they are as well."""

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def uncompiled(name: str) -> ModuleType:
    """Return a module made anew from its source, whatever was compiled of it."""
    path = ROOT / f"{name.replace('.', '/')}.py"
    loader = SourceFileLoader(f"{name}_uncompiled", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    shared = "harness.models._kernels"  # whose functions compiled modules alone can share
    if name.startswith("baselines"):
        sys.modules[shared], kept = uncompiled(shared), importlib.import_module(shared)
    loader.exec_module(module)
    if name.startswith("baselines"):
        sys.modules[shared] = kept
    return module
