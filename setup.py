"""The modules that are compiled when the package is built; all else stands in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

MODULES = [
    "harness/core/_kernels.pyx",
    "harness/data/_events.pyx",
    "harness/delimited/_delimited.pyx",
    "harness/metrics/_kernels.py",
    "harness/models/_kernels.py",
    "harness/stats/_kernels.pyx",
    "harness/submission/_kernels.pyx",
    "baselines/_kernels.py",
]
# A product and a sum are rounded one after the other on every machine: no fused instruction.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]
FLAGS += os.environ.get("HARNESS_CFLAGS", "").split()  # such as a sanitizer's: the last counts
LIBRARIES = [] if sys.platform == "win32" else ["m"]


def extension(source: str) -> Extension:
    """Return the extension module that a file becomes."""
    name = str(Path(source).with_suffix("")).replace("/", ".")
    return Extension(
        name, [source], extra_compile_args=FLAGS, libraries=LIBRARIES, depends=["setup.py"]
    )


class Incremental(build_ext):
    """Compile modules side by side; for an install with -e, only those that changed.

    pip has new folders for each such install, in which nothing is ever found compiled.
    """

    def finalize_options(self) -> None:
        """Choose folders that are kept."""
        super().finalize_options()
        self.parallel = True
        if self.inplace or self.editable_mode:
            self.build_lib, self.build_temp = "build/in-place", "build/objects"


if __name__ == "__main__":  # where processes begin by importing this file, Cython's do too
    setup(
        cmdclass={"build_ext": Incremental},
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
        ),
    )
