"""A scored submission as the platforms of other hosts read it: Codabench, EvalAI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.core.errors import UsageError, suggest
from harness.core.io import whole_file, written
from harness.scoring.submissions import Scored

_MOST_BYTES = 1 << 20


def codabench(scored: Scored, keys: Mapping[str, str] | None = None) -> dict[str, float]:
    """Return what Codabench reads from scores.json: a number for each key of the leaderboard.

    Parameters
    ----------
    keys : mapping, optional
        Which estimate each column of the leaderboard shows: ``{"score": "MAP@12"}``; the metrics'
        own names by default. That of a part of the users is ``MAP@12 Public``.

    Raises
    ------
    UsageError
        An estimate that is not there.
    """
    means = {name: estimate.mean for name, estimate in scored.metrics.items()}
    for board, estimates in scored.leaderboards.items():
        means |= {f"{name} {board}": estimate.mean for name, estimate in estimates.items()}
    for name in () if keys is None else keys.values():
        if name not in means:
            raise UsageError(f'no estimate "{name}"; {suggest(name, means)}')
    return means if keys is None else {key: means[name] for key, name in keys.items()}


def write_codabench(
    scored: Scored, folder: Path | str, keys: Mapping[str, str] | None = None
) -> Path:
    """Write scores.json into a scoring program's output folder, whole or not at all."""
    return _write(Path(folder) / "scores.json", codabench(scored, keys))


def evalai(scored: Scored, split: str = "all") -> dict[str, Any]:
    """Return what EvalAI's ``evaluate(test_annotation_file, user_annotation_file, …)`` returns.

    Parameters
    ----------
    split : str
        What the challenge calls the split of all users; Public and Private are splits of their own.
    """
    result = [
        {name: {metric: estimate.mean for metric, estimate in estimates.items()}}
        for name, estimates in {split: scored.metrics, **scored.leaderboards}.items()
    ]
    return {"result": result, "submission_result": result[0][split]}


def write_evalai(scored: Scored, path: Path | str, split: str = "all") -> Path:
    """Write EvalAI's result into a file, whole or not at all."""
    return _write(Path(path), evalai(scored, split))


def is_scores(path: Path) -> bool:
    """Return whether a file is one that is written here."""
    with suppress(OSError, ValueError, RecursionError):
        document = json.loads(path.read_bytes()) if path.stat().st_size < _MOST_BYTES else None
        return isinstance(document, dict) and (
            "submission_result" in document
            or all(isinstance(value, int | float) for value in document.values())
        )
    return False


def _write(path: Path, means: Mapping[str, Any]) -> Path:
    text = json.dumps(means, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with written(path), whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
