"""`synthesise` on one thread and on many."""

import os
import subprocess
import sys
from pathlib import Path

from harness.data.synthetic import DEFAULTS, synthesise

CODE = """
import sys
from pathlib import Path
from harness.data.synthetic import DEFAULTS, synthesise
for layout in DEFAULTS:
    synthesise(layout, Path(sys.argv[1]) / layout)
"""


def test_the_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "one")],
        check=True,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )
    for layout in DEFAULTS:
        for path in synthesise(layout, tmp_path / "many" / layout):
            assert path.read_bytes() == (tmp_path / "one" / layout / path.name).read_bytes()
