"""Run folders written by hand: the values of users, in the files that a run has."""

import json
from collections.abc import Mapping, Sequence
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
Values = Mapping[str, Mapping[str, float | Sequence[float]]]


def write_run(
    folder: Path,
    models: Values,
    *,
    written: str = "2026-11-01T10:00:00+00:00",
    evaluation: Mapping[str, Any] = {},
    config: Mapping[str, Any] = {},
    better: Mapping[str, str] = {},
    **record: Any,
) -> Path:
    """Write the folder of a run, and return it.

    `models` have by metric a value for each of the users u0, u1 …, or one for all lists.
    """
    named = next(iter(models.values()))
    users = max(len(of) for of in named.values() if not isinstance(of, float))
    sections = {"evaluation": {"k": 3, "metrics": list(named), **config.get("evaluation", {})}}
    of_models = [small.POPULAR | {"name": name} for name in models]
    small.write(
        folder,
        {
            "config.toml": tomli_w.dumps(small.values(*of_models, **{**config, **sections})),
            "environment.json": json.dumps({"written": written}),
            "result.json": json.dumps(
                {
                    "evaluation": {"k": 3, "users": users, **EVALUATION, **evaluation},
                    "models": [_model(name, own) for name, own in models.items()],
                    "metrics": {m: {"better": (BETTER | better).get(m, "higher")} for m in named},
                    **record,
                }
            ),
        },
    )
    ids = [f"u{n}" for n in range(users)]
    scores = [
        pl.DataFrame(
            {"user": ids, "model": name, "repeat": 0}
            | {m: of for m, of in own.items() if not isinstance(of, float)}
        )
        for name, own in models.items()
    ]
    pl.concat(scores).write_parquet(folder / "per_user.parquet")
    pl.DataFrame({"user": ids, "activity": 1, "truth": 1}).write_parquet(folder / "users.parquet")
    return folder


def _model(name: str, values: Mapping[str, float | Sequence[float]]) -> dict[str, object]:
    means = {m: of if isinstance(of, float) else sum(of) / len(of) for m, of in values.items()}
    metrics = {metric: {"mean": mean, "ci95": None} for metric, mean in means.items()}
    return {"name": name, "repeats": 1, "metrics": metrics}


def document(folder: Path) -> Any:
    """Return what result.json holds."""
    return json.loads((folder / "result.json").read_text())


def change(folder: Path, **parts: Any) -> Path:
    """Put other parts into result.json; None takes one out. Return the folder."""
    changed = {name: part for name, part in (document(folder) | parts).items() if part is not None}
    (folder / "result.json").write_text(json.dumps(changed))
    return folder
