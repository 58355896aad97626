"""What the peers' scripts share: they time a call on the files in the folder DATA, ROUNDS times.

The last line they print is a JSON object: the median seconds, those of its parts, and the values.
"""

import json
import os
import statistics
import time
from pathlib import Path

FEW = 10


def file(name):
    """Return the path of a Parquet file: recs (user, item, rank) or truth (user, item)."""
    return Path(os.environ["DATA"]) / f"{name}.parquet"


def report(call, warm_up):
    """Time `call`, which returns values by name and the seconds of its parts by name."""
    warm_up()
    times = []
    for _ in range(int(os.environ["ROUNDS"])):
        start = time.perf_counter()
        values, parts = call()
        times.append(parts | {"seconds": time.perf_counter() - start})
    seen = {part: statistics.median(each[part] for each in times) for part in times[0]}
    print(json.dumps(seen | {"values": {name: float(value) for name, value in values.items()}}))
