"""Run folders written by hand: the values of users, in the files that a run has."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import small
import tomli_w

EVALUATION = {
    "candidates": 4,
    "fields": {"users": "0" * 64, "candidates": "1" * 64, "truth": "2" * 64, "seen": "3" * 64},
    "fingerprint": "f" * 64,
    "fingerprint_format": 2,
    "funnel": [],
}
BETTER = {"Gini@1": "lower", "Popularity@1": "neither"}


def write_run(
    folder: Path,
    models: Mapping[str, Mapping[str, Any]],
    *,
    written: str = "2026-11-01T10:00:00+00:00",
    evaluation: Mapping[str, Any] = {},
    config: Mapping[str, Any] = {},
    **record: Any,
) -> Path:
    """Write the folder of a run, and return it.

    `models` have by metric a value for each of the users u0, u1 …, or one for all lists.
    """
    metrics = next(iter(models.values()))
    columns = [column for column in metrics.values() if isinstance(column, list)]
    ids = [f"u{n}" for n in range(max(map(len, columns)))]
    sections = {"evaluation": {"k": 3, "metrics": list(metrics), **config.get("evaluation", {})}}
    of_models = [small.POPULAR | {"name": name} for name in models]
    result = {
        "evaluation": {"k": 3, "users": len(ids), **EVALUATION, **evaluation},
        "models": [_model(name, values) for name, values in models.items()],
        "metrics": {metric: {"better": BETTER.get(metric, "higher")} for metric in metrics},
        **record,
    }
    files = {
        "config.toml": tomli_w.dumps(small.values(models=of_models, **{**config, **sections})),
        "environment.json": json.dumps({"written": written}),
        "result.json": json.dumps(result),
    }
    small.write(folder, files)
    scores = [
        pl.DataFrame(
            {"user": ids, "model": name, "repeat": 0}
            | {m: column for m, column in values.items() if isinstance(column, list)}
        )
        for name, values in models.items()
    ]
    pl.concat(scores).write_parquet(folder / "per_user.parquet")
    pl.DataFrame({"user": ids, "activity": 1, "truth": 1}).write_parquet(folder / "users.parquet")
    return folder


def _model(name: str, values: Mapping[str, Any]) -> dict[str, object]:
    means = {
        m: sum(scores) / len(scores) if isinstance(scores, list) else scores
        for m, scores in values.items()
    }
    metrics = {metric: {"mean": mean, "ci95": None} for metric, mean in means.items()}
    return {"name": name, "repeats": 1, "metrics": metrics}


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def change(folder: Path, **parts: Any) -> Path:
    """Put other parts into result.json; None takes one out. Return the folder."""
    changed = {name: part for name, part in (document(folder) | parts).items() if part is not None}
    (folder / "result.json").write_text(json.dumps(changed))
    return folder
