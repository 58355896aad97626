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
from harness.config.space import Domain, Range, SearchName
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
_NEAR = 0.05  # the share of a range, at either end, that is called its end


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
        return self.config.by_name[model.name].space

    def sheets(self) -> list[Sheet]:
        """Return a table a model: its best trials, and last the model as it was."""
        sheets, inner = [_sheet(self, model) for model in self.models], self.evaluation
        parts = [inner.layout, f"{inner.window}, of train", f"k = {inner.k}"]
        parts.append(counted(inner.users, "user"))
        parts += [] if inner.candidates is None else [counted(inner.candidates, "candidate")]
        sheets[0].heading.insert(0, f"inner  {' · '.join([*parts, inner.fingerprint[:6]])}")
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a trial, in full precision."""
        names = list(dict.fromkeys(name for model in self.models for name in self.space(model)))

        def cell(value: object) -> object:
            return value if isinstance(value, bool | int | float | None) else str(value)

        return [
            {
                "model": model.name,
                "trial": trial.trial,
                **{f"params.{name}": cell(trial.params.get(name)) for name in names},
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
        with written(path, "; choose another --out"), whole_file(path) as temporary:
            text = tomli_w.dumps(self.config.written(path.parent))
            temporary.write_text(f"# Written by harness tune.\n{text}", encoding="utf-8")


def at_the_edge(space: Space, params: Mapping[str, Any]) -> dict[str, End]:
    """Return the parameters that lie at an end of their domain."""
    edges = dict[str, End]()
    for name, domain in space.items():
        value = params[name]
        if isinstance(domain, Range):
            scale = math.log if domain.log else float
            low, high, place = scale(domain.low), scale(domain.high), scale(value)
            share = (place - low) / (high - low)
        elif _is_numeric(domain) and len(domain) > 2:
            share = 0 if value == min(domain) else 1 if value == max(domain) else 0.5
        else:
            continue
        if share <= _NEAR or share >= 1 - _NEAR:
            edges[name] = "low" if share <= _NEAR else "high"
    return edges


def _is_numeric(domain: Domain) -> bool:
    return isinstance(domain, Range) or all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in domain
    )


_SHOWN = 10  # how many trials a table has; JSON and CSV have all


def _sheet(tuned: Tuned, model: TunedModel) -> Sheet:
    """Return a model's table: its best trials, ranked, and the model as it was."""
    space, sign, untuned = tuned.space(model), tuned.metric.definition.sign, model.results[0]
    scored = [(sign * trial.mean, trial) for trial in model.results[1:] if trial.mean is not None]
    ranked = [trial for _, trial in sorted(scored, key=lambda pair: pair[0])]
    digits = digits_of(t.mean for t in [*ranked, untuned] if t.mean is not None)
    ranks = {trial.trial: str(rank) for rank, trial in enumerate(ranked, 1)}

    def value(name: str, trial: Trial) -> str:
        return shown(trial.params[name]) if name in trial.params else MISSING

    def mean(trial: Trial) -> str:
        return "failed" if trial.mean is None else number(trial.mean, digits)

    columns: list[Column[Trial]] = [
        Column("rank", lambda trial: ranks.get(trial.trial, "untuned"), "name"),
        *(
            Column(
                printable(name), partial(value, name), "number" if _is_numeric(domain) else "words"
            )
            for name, domain in space.items()
        ),
        Column(str(tuned.metric), mean, firm=True),
        Column("95 % interval", lambda trial: ends(trial.ci95, digits), firm=True),
        Column("time", lambda trial: "" if trial.mean is None else f"{trial.seconds:.1f} s"),
    ]
    search = f"{tuned.search} search, {counted(model.trials, 'trial')}"
    search += f", {model.failed:,} failed" if model.failed else ""
    search += f", the best {_SHOWN}" if model.trials > _SHOWN else ""
    summary = [f"tune   {printable(model.name)}", str(tuned.metric), search]
    summary += [] if tuned.search == "grid" else [f"seed {tuned.seed}"]
    return Sheet.of(
        [*ranked[:_SHOWN], untuned], columns, heading=[" · ".join(summary)], footing=_notes(model)
    )


def _notes(model: TunedModel) -> list[str]:
    taken = [counted(model.reused, "trial")] if model.reused else []
    taken += ["the model without tuning"] if model.results[0].reused else []
    notes = list[str]()
    if model.best == 0:
        notes.append("no trial was better than the model without tuning; its params are kept")
    for name, end in model.at_the_edge.items():
        value = shown(model.results[model.best].params[name])
        notes.append(
            f"the best {name}, {value}, lies at the {end} end of its space; try a wider one"
        )
    if model.again:
        trials = counted(model.trials + model.again, "trial")
        notes.append(f"{model.again:,} of {trials} skipped: they would repeat parameters")
    for message, times in Counter(trial.error for trial in model.results if trial.error).items():
        notes.append(f"failed{f' {times:,} times' if times > 1 else ''}: {message}")
    lines = [f"note   {printable(note)}" for note in notes]
    if not taken:
        return lines
    reused = f"reused  {' and '.join(taken)}, from an earlier search; --fresh evaluates all again"
    return [reused, *lines]


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
