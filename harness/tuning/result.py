"""What a search found: every trial, the best of each model, and the config with it put in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from harness.config import Config
from harness.config.space import Domain, SearchName
from harness.core.errors import counted, in_toml, printable
from harness.core.io import refuse_overwriting, whole_file, written
from harness.core.table import (
    MISSING,
    Column,
    Sheet,
    Shown,
    digits_of,
    ends,
    json_value,
    low_high,
    number,
)
from harness.metrics import Metric
from harness.results.record import Evaluation
from harness.tuning.search import Space, Trial

End = Literal["low", "high"]
_NEAR = 0.05
"""The share of a range, at either end, that is called its end."""


class TunedModel(BaseModel):
    """All trials of a model.

    Attributes
    ----------
    trials, failed, again : int
        How many the search made, how many of them failed, and how many were not made since no
        choice came up that was not tried yet.
    reused : int
        How many of the trials an earlier search made.
    best : int
        The number of the best trial.
    at_the_edge : mapping of text to text
        Parameters of the best that lie at an end of their space: ``low`` or ``high``.
    """

    name: str
    trials: int
    failed: int
    again: int
    reused: int
    best: int
    at_the_edge: dict[str, End]
    results: list[Trial]

    @classmethod
    def of(
        cls, name: str, space: Space, results: tuple[Trial, ...], again: int, sign: int
    ) -> TunedModel:
        """Return that of all trials; of equally good ones the earliest is the best."""
        searched = results[1:]
        best = min(results, key=lambda t: math.inf if t.mean is None else sign * t.mean)
        return cls(
            name=name,
            trials=len(searched),
            failed=len([trial for trial in searched if trial.mean is None]),
            again=again,
            reused=len([trial for trial in searched if trial.reused]),
            best=best.trial,
            at_the_edge=at_the_edge(space, best.params) if best.trial else {},
            results=list(results),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Shown):
    """What a search over the parameters of a config's models found.

    Attributes
    ----------
    config : Config
        The config with the best `params`, and the record `tuned`, put in.
    evaluation : Evaluation
        The inner one; none of it is of the config's own.
    metric : Metric
        What was searched by.
    models : tuple of TunedModel
    """

    config: Config
    evaluation: Evaluation
    metric: Metric
    search: SearchName
    seed: int
    models: tuple[TunedModel, ...]

    def space(self, model: TunedModel) -> Space:
        """Return the space that a model's parameters were searched in."""
        return next(m.space for m in self.config.models if m.name == model.name)

    def sheets(self) -> list[Sheet]:
        """Return a table a model: its best trials, and last the model as it was."""
        sheets, inner = [_sheet(self, model) for model in self.models], self.evaluation
        candidates = (
            "" if inner.candidates is None else f"{counted(inner.candidates, 'candidate')} · "
        )
        sheets[0].heading[:0] = [
            f"inner  {inner.layout} · {inner.window}, of train · k = {inner.k} · "
            f"{counted(inner.users, 'user')} · {candidates}{inner.fingerprint[:_SHORT]}"
        ]
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a trial, in full precision."""
        names = list(dict.fromkeys(name for model in self.models for name in self.space(model)))
        return [
            {
                "model": model.name,
                "trial": trial.trial,
                **{f"params.{name}": _cell(trial.params.get(name)) for name in names},
                str(self.metric): trial.mean,
                **low_high(trial.ci95, f"{self.metric} "),
                "seconds": trial.seconds,
                "error": trial.error,
            }
            for model in self.models
            for trial in model.results
        ]

    def content(self) -> dict[str, Any]:
        """Return what JSON holds: of a model how many trials, the best one's number, and each."""
        return {
            "evaluation": self.evaluation.model_dump(exclude={"funnel"}),
            "metric": str(self.metric),
            "search": self.search,
            "seed": self.seed,
            "models": [json_value(model.model_dump()) for model in self.models],
        }

    def write(self, path: Path | str, *, force: bool = False) -> None:
        """Write the config with the best parameters put in.

        Paths in it are as they were if it stands beside the first config, else absolute.
        """
        import tomli_w

        path = Path(path)
        refuse_overwriting(path, [], force=force)
        with written(path, "; choose another --out"):
            text = tomli_w.dumps(self.config.written(path.parent))
            with whole_file(path) as temporary:
                temporary.write_text(f"# Written by harness tune.\n{text}", encoding="utf-8")


def at_the_edge(space: Space, params: Mapping[str, Any]) -> dict[str, End]:
    """Return the parameters that lie at an end of their domain."""
    ends = {name: _end(domain, params[name]) for name, domain in space.items()}
    return {name: end for name, end in ends.items() if end}


def _end(domain: Domain, value: Any) -> End | None:
    """Return which end of its domain a value lies at, None where it lies between."""
    if isinstance(domain, tuple):
        if not _is_numeric(domain) or len(domain) < 3:
            return None
        ends: dict[Any, End] = {min(domain): "low", max(domain): "high"}
        return ends.get(value)
    scale = math.log if domain.log else float
    low, high, place = scale(domain.low), scale(domain.high), scale(value)
    share = (place - low) / (high - low)
    return "low" if share <= _NEAR else "high" if share >= 1 - _NEAR else None


def _is_numeric(domain: Domain) -> bool:
    return not isinstance(domain, tuple) or all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in domain
    )


_SHORT = 6
_SHOWN = 10
"""How many trials a table has; JSON and CSV have all."""


def _sheet(tuned: Tuned, model: TunedModel) -> Sheet:
    """Return a model's table: its best trials, ranked, and the model as it was."""
    space, sign, untuned = tuned.space(model), tuned.metric.definition.sign, model.results[0]
    scored = [(trial.mean, trial) for trial in model.results[1:] if trial.mean is not None]
    ranked = [trial for _, trial in sorted(scored, key=lambda pair: sign * pair[0])]
    digits = digits_of(t.mean for t in [*ranked, untuned] if t.mean is not None)
    rows = [(str(rank), trial) for rank, trial in enumerate(ranked[:_SHOWN], 1)]

    def value(name: str, row: tuple[str, Trial]) -> str:
        return shown(row[1].params[name]) if name in row[1].params else MISSING

    columns: list[Column[tuple[str, Trial]]] = [
        Column("rank", lambda row: row[0], "name"),
        *(
            Column(
                printable(name), partial(value, name), "number" if _is_numeric(domain) else "words"
            )
            for name, domain in space.items()
        ),
        Column(
            str(tuned.metric),
            lambda row: "failed" if row[1].mean is None else number(row[1].mean, digits),
            firm=True,
        ),
        Column("95 % interval", lambda row: ends(row[1].ci95, digits), firm=True),
        Column("time", lambda row: "" if row[1].mean is None else f"{row[1].seconds:.1f} s"),
    ]
    return Sheet.of(
        [*rows, ("untuned", untuned)],
        columns,
        heading=[f"tune   {printable(model.name)} · {_summary(tuned, model)}"],
        footing=_notes(model),
        kept=len(space) + 2,
    )


def _summary(tuned: Tuned, model: TunedModel) -> str:
    """Return in words how the trials were made."""
    parts = [f"{tuned.metric}", f"{tuned.search} search, {counted(model.trials, 'trial')}"]
    if model.failed:
        parts[-1] += f", {model.failed:,} failed"
    if model.trials > _SHOWN:
        parts[-1] += f", the best {_SHOWN}"
    return " · ".join(parts if tuned.search == "grid" else [*parts, f"seed {tuned.seed}"])


def _notes(model: TunedModel) -> list[str]:
    """Return what is said below a model's table."""
    taken = [counted(model.reused, "trial")] if model.reused else []
    taken += ["the model as it is"] if model.results[0].reused else []
    reused = f"{' and '.join(taken)}, of an earlier search; --fresh evaluates all anew"
    notes = []
    if model.best == 0:
        notes.append("no trial was better than the model as it is; its params are kept")
    for name, end in model.at_the_edge.items():
        value = shown(model.results[model.best].params[name])
        notes.append(
            f"the best {name}, {value}, lies at the {end} end of its space; try a wider one"
        )
    if model.again:
        trials = counted(model.trials + model.again, "trial")
        notes.append(f"{model.again:,} of {trials} not made: no other choice of parameters came up")
    for message, times in Counter(trial.error for trial in model.results if trial.error).items():
        notes.append(f"failed{f' {times:,} times' if times > 1 else ''}: {message}")
    notes = [f"note   {printable(note)}" for note in notes]
    return [f"reused  {reused}", *notes] if taken else notes


def shown(value: object) -> str:
    """Return a parameter's value as it is printed, numbers with four digits.

    Examples
    --------
    >>> shown(0.123456), shown(1234.56), shown(50), shown("cosine"), shown(True), shown([1, 2])
    ('0.1235', '1235', '50', 'cosine', 'true', '[1, 2]')
    """
    if isinstance(value, float):
        return f"{value:.4g}" if value < 1000 else f"{value:.0f}"
    return printable(value if isinstance(value, str) else in_toml(value))


def _cell(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float) else str(value)
