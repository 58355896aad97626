"""The samples on one processor and on two: the same to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small import timeless

CONFIGS = Path(__file__).parents[2] / "configs"
RUN = """
import os, sys
n = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])
from pathlib import Path
from harness import config, run
for path in sys.argv[2:]:
    few = ["compare.resamples=100", "data.cache=false"]
    print(run(config.read(Path(path), few)).to_json(), end="\\0")
"""


def on_processors(n: int) -> list[str]:
    paths = [str(CONFIGS / name) for name in ("demo.toml", "demo-ponpare.toml")]
    environment = os.environ | {"POLARS_MAX_THREADS": str(n)}
    line = [sys.executable, "-c", RUN, str(n), *paths]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    texts = done.stdout.split("\0")[:-1]
    return [json.dumps(timeless(json.loads(text))) for text in texts]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux's sched_setaffinity")
def test_processors_change_no_byte() -> None:
    one = on_processors(1)
    assert len(one) == 2
    assert one == on_processors(2)
