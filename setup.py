"""The modules that are compiled when the package is built; all else stands in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = [
    "harness/core/_kernels.pyx",
    "harness/metrics/_kernels.py",
    "harness/models/_kernels.py",
    "harness/stats/_kernels.pyx",
    "harness/submission/_fix.pyx",
    "harness/submission/_keys.pyx",
    "harness/submission/_repair.pyx",
    "harness/submission/_scan.pyx",
    "harness/submission/faults.pyx",
    "baselines/_kernels.py",
]
# A product and a sum are rounded one after the other on every machine: no fused instruction.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]


def extension(source: str) -> Extension:
    """Return the extension module that a file becomes."""
    name = str(Path(source).with_suffix("")).replace("/", ".")
    return Extension(name, [source], extra_compile_args=FLAGS)


setup(
    ext_modules=cythonize(
        [extension(source) for source in MODULES],
        build_dir="build/c",
        nthreads=os.cpu_count() or 1,
        # Bounds are checked, but for modules that say otherwise on top: what reads a stranger's
        # bytes never does.
        compiler_directives={
            "language_level": 3,
            "wraparound": False,
            "show_performance_hints": False,
        },
    )
)
