"""The samples on one processor, and with their rows shuffled on two: the same to the last bit."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from small import timeless

RUN = """
import os, sys
n, *runs = sys.argv[1:]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(n)])
from pathlib import Path
from harness import config, run
for path, folder in zip(runs[::2], runs[1::2]):
    few = ["compare.resamples=100", "data.cache=false", f"data.path={folder}"]
    print(run(config.read(Path(path), few)).to_json(), end="\\0")
"""


def on_processors(n: int, data: Path) -> list[str]:
    line = [sys.executable, "-c", RUN, str(n)]
    for name, sample in (("demo.toml", "hm-sample"), ("demo-ponpare.toml", "ponpare-sample")):
        line += [str(ROOT / "configs" / name), str(data / sample)]
    environment = os.environ | {"POLARS_MAX_THREADS": str(n)}
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    texts = done.stdout.split("\0")[:-1]
    return [json.dumps(timeless(json.loads(text))) for text in texts]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux's sched_setaffinity")
def test_neither_processors_nor_the_order_of_rows_change_a_byte(tmp_path: Path) -> None:
    for path in (ROOT / "data").glob("*/*.csv.gz"):
        header, *rows = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        random.Random(1).shuffle(rows)  # noqa: S311
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.stem).write_bytes(b"".join([header, *rows]))
    single = on_processors(1, ROOT / "data")
    assert len(single) == 2
    assert single == on_processors(2, tmp_path)
