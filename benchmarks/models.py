"""Time the baselines at full H&M size, ItemKNN beside implicit and EASE beside a Cholesky solve.

``python benchmarks/models.py``; the full-size files are made once, as full_run.py does.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from measure import HARNESS, ROOT, USERS, Bound, announce, bounds, full_hm, process, spread, table

CONFIG = str(ROOT / "configs/hm.toml")
SHOP = ("popular last week", "popular, half-life 1 week", "popular by age", "trending")
AGAIN = ("repurchase", "repurchase when due")
PIECES = Path(__file__).with_name("model_pieces.py")


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        cache = f"{folder}/cache"
        source = f'data.path="{data}"'
        checks = [*whole_run(folder, source, cache), *submissions(folder, source, cache)]
    checks += pieces(data)
    bounds(*checks)


def whole_run(folder: str, source: str, cache: str) -> list[Bound]:
    """Run the config of H&M; report what each model took to learn and to recommend."""
    command = [HARNESS, "run", CONFIG, "--set", source, "--fresh", "--out"]
    process([*command, f"{folder}/first"], HARNESS_CACHE_DIR=cache)  # reads
    done = process([*command, f"{folder}/run"], HARNESS_CACHE_DIR=cache)
    result = json.loads(Path(f"{folder}/run/result.json").read_text(encoding="utf-8"))
    users, total, rows = result["evaluation"]["users"], 0.0, []
    for model in sorted(result["models"], key=lambda model: model["name"]):
        fit, lists = (model["seconds"][step] for step in ("fit", "recommend"))
        total += fit + lists
        rows.append((model["name"], f"{fit:.1f}", f"{lists:.1f}"))
    table((f"configs/hm.toml, {users:,} users evaluated", "fit s", "recommend s"), rows)
    share = 69_000 / users
    print(f"All of them {total:.0f} s; the whole process {done.seconds:.0f} s. ", end="")
    print(f"The made-up window has {users:,} users, the real one 69,000.\n")
    return [
        Bound("all H&M baselines, the whole process", done.seconds, 65, " s"),
        Bound("the same process, peak memory", done.peak / 1e9, 2.5, " GB"),
    ] + ([Bound("a share of users", share, 1)] if share > 1 else [])


def submissions(folder: str, source: str, cache: str) -> list[Bound]:
    """Write a submission of each cheap model for all customers, a process each."""
    rows, seconds, peak = [], 0.0, 0.0
    for model in (*SHOP, *AGAIN):
        out = f"{folder}/submission.csv"
        command = [HARNESS, "submit", CONFIG, "--set", source, "--model", model, "--out", out]
        done = process(command, HARNESS_CACHE_DIR=cache)
        rows.append((model, f"{done.seconds:.1f}", f"{done.peak / 1e9:.2f}"))
        seconds, peak = seconds + done.seconds, max(peak, done.peak / 1e9)
    table((f"harness submit, {USERS:,} rows, whole process", "s", "peak GB"), rows)
    return [
        Bound("submissions of all trend and repurchase baselines", seconds, 45, " s"),
        Bound("the same, peak memory", peak, 4, " GB"),
    ]


def pieces(data: Path) -> list[Bound]:
    """Compare with others in one process of its own, where numpy may grow."""
    if find_spec("implicit") is None:
        print("implicit left out, and what is measured beside it: it is not installed.\n")
        return []
    done = subprocess.run(
        [sys.executable, str(PIECES), str(data)], capture_output=True, text=True, check=True
    )
    times = json.loads(done.stdout)
    names = {
        "knn": "ItemKNN.fit, cosine, 100 neighbours, last 90 days",
        "implicit": "implicit's CosineRecommender.fit, the same matrix and K",
        "implicit bare": "implicit's ItemItemRecommender.fit on the normalised matrix",
        "ease": "EASE.fit, 10,000 items × 100,000 users",
        "cholesky": "scipy cho_factor and cho_solve for the inverse, 10,000 × 10,000",
    }
    middle = {name: statistics.median(values) for name, values in times.items()}
    rows = [(names[n], f"{middle[n]:.2f}", spread(values)) for n, values in times.items()]
    table(("one process, in turn", "median s", "range"), rows)
    return [
        Bound("ItemKNN.fit ÷ implicit's", middle["knn"] / middle["implicit"], 1),
        Bound("… ÷ its all-pairs step alone", middle["knn"] / middle["implicit bare"], 1),
        Bound("EASE.fit ÷ Cholesky solve", middle["ease"] / middle["cholesky"], 1.5),
    ]


if __name__ == "__main__":
    main()
