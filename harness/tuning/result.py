"""What a search found: every trial, the best of each model, and the config with it put in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.config import Config
from harness.config.space import Domain, SearchName
from harness.core.errors import counted, in_toml, printable
from harness.core.io import refuse_overwriting, whole_file, written
from harness.core.table import (
    MISSING,
    Column,
    Kind,
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
from harness.tuning.search import chosen

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    _Ranked = tuple[str, FrozenTrial]

End = Literal["low", "high"]
_NEAR = 0.05
"""The share of a range, at either end, that is called its end."""


@dataclass(frozen=True)
class TunedModel:
    """All trials of one model.

    A trial's ``value`` is its mean over users on the inner set, None where the model failed; its
    ``user_attrs`` hold ``seconds``, and ``ci95`` or, of one that failed, ``error``; ``reused`` of
    one that an earlier search made.

    Attributes
    ----------
    given : mapping
        The model's `params` as they were.
    trials : tuple of optuna.trial.FrozenTrial
        First the model as it was, then those of the search, no choice of parameters twice.
    again : int
        Trials that were not made, since no choice came up that was not tried yet.
    best : optuna.trial.FrozenTrial
        Of equally good ones the earliest.
    changed : str, optional
        What of the source is not as it was when earlier searches made trials.
    unkept : str, optional
        Why trials are not kept for the next search.
    """

    name: str
    given: Mapping[str, Any]
    space: Mapping[str, Domain]
    trials: tuple[FrozenTrial, ...]
    again: int
    best: FrozenTrial
    changed: str | None = None
    unkept: str | None = None

    @property
    def untuned(self) -> FrozenTrial:
        """The model with its `params` as they were."""
        return self.trials[0]

    @property
    def searched(self) -> tuple[FrozenTrial, ...]:
        """The trials that the search made."""
        return self.trials[1:]

    def params(self, trial: FrozenTrial) -> dict[str, Any]:
        """Return all `params` of the model that a trial evaluated."""
        return {**self.given, **chosen(self.space, trial)}

    @property
    def at_the_edge(self) -> dict[str, End]:
        """The best's parameters that lie at an end of their domain: ``low`` or ``high``."""
        best = chosen(self.space, self.best)
        ends = {name: _end(self.space[name], value) for name, value in best.items()}
        return {name: end for name, end in ends.items() if end}


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Shown):
    """What a search over the parameters of a config's models found.

    Attributes
    ----------
    config : Config
        The config with the best `params`, and the record `tuned`, put in.
    metric : Metric
        What was searched by.
    seed : int
    evaluation : Evaluation
        The inner one; none of it is of the config's own.
    models : tuple of TunedModel
    """

    config: Config
    evaluation: Evaluation
    metric: Metric
    search: SearchName
    seed: int
    models: tuple[TunedModel, ...]

    def sheets(self) -> list[Sheet]:
        """Return a table a model: its best trials, and last the model as it was."""
        found = [_sheet(self, model) for model in self.models]
        inner = self.evaluation
        candidates = (
            "" if inner.candidates is None else f"{counted(inner.candidates, 'candidate')} · "
        )
        found[0].heading[:0] = [
            f"inner  {inner.layout} · {inner.window}, of train · k = {inner.k} · "
            f"{counted(inner.users, 'user')} · {candidates}{inner.fingerprint[:_SHORT]}"
        ]
        return found

    def records(self) -> list[dict[str, object]]:
        """Return one record a trial, in full precision."""
        names = list(dict.fromkeys(name for model in self.models for name in model.space))
        return [
            {
                "model": model.name,
                "trial": at,
                **{f"params.{name}": _cell(model.params(trial).get(name)) for name in names},
                str(self.metric): trial.value,
                **low_high(trial.user_attrs.get("ci95"), f"{self.metric} "),
                "seconds": trial.user_attrs["seconds"],
                "error": trial.user_attrs.get("error"),
            }
            for model in self.models
            for at, trial in enumerate(model.trials)
        ]

    def content(self) -> dict[str, Any]:
        """Return what JSON holds: of a model how many trials, the best one's number, and each."""
        return {
            "evaluation": self.evaluation.model_dump(exclude={"funnel"}),
            "metric": str(self.metric),
            "search": self.search,
            "seed": self.seed,
            "models": [_model(model) for model in self.models],
        }

    def write(self, path: Path | str, *, force: bool = False) -> None:
        """Write the config with the best parameters put in.

        Paths in it are as they were if it stands beside the first config, else absolute.

        Raises
        ------
        UsageError
            `path` is there already and `force` is not asked for, or it cannot be written.
        """
        import tomli_w

        path = Path(path)
        refuse_overwriting(path, [], force=force)
        with written(path, "; choose another --out"):
            text = tomli_w.dumps(self.config.written(path.parent))
            with whole_file(path) as temporary:
                temporary.write_text(f"# Written by harness tune.\n{text}", encoding="utf-8")


def _end(domain: Domain, value: Any) -> End | None:
    """Return which end of its domain a value lies at, None where it lies between."""
    if isinstance(domain, tuple):
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in domain)
        if not numbers or len(domain) < 3:
            return None
        ends: dict[Any, End] = {min(domain): "low", max(domain): "high"}
        return ends.get(value)
    scale = math.log if domain.log else float
    low, high, at = scale(domain.low), scale(domain.high), scale(value)
    share = (at - low) / (high - low)
    return "low" if share <= _NEAR else "high" if share >= 1 - _NEAR else None


_SHORT = 6
_SHOWN = 10
"""How many trials a table has; JSON and CSV have all."""


def _sheet(tuned: Tuned, model: TunedModel) -> Sheet:
    ranked = ranking(tuned, model)
    digits = digits_of(t.value for t in [*ranked, model.untuned] if t.value is not None)
    rows = [(str(rank), trial) for rank, trial in enumerate(ranked[:_SHOWN], 1)]
    columns: list[Column[_Ranked]] = [
        Column("rank", lambda row: row[0], "name"),
        *(
            Column(printable(name), partial(_drawn, model, name), _kind(domain))
            for name, domain in model.space.items()
        ),
        Column(
            str(tuned.metric),
            lambda row: "failed" if row[1].value is None else number(row[1].value, digits),
            firm=True,
        ),
        Column("95 % interval", lambda row: ends(row[1].user_attrs.get("ci95"), digits), firm=True),
        Column(
            "time",
            lambda row: "" if row[1].value is None else f"{row[1].user_attrs['seconds']:.1f} s",
        ),
    ]
    return Sheet.of(
        [*rows, ("untuned", model.untuned)],
        columns,
        heading=[f"tune   {printable(model.name)} · {_made(tuned, model)}"],
        footing=[*_reused(model), *_notes(model)],
        kept=len(model.space) + 2,
    )


def _kind(domain: Domain) -> Kind:
    """Return how a column of such values is shown."""
    words = isinstance(domain, tuple) and any(
        isinstance(value, bool) or not isinstance(value, int | float) for value in domain
    )
    return "words" if words else "number"


def _drawn(model: TunedModel, name: str, row: _Ranked) -> str:
    params = model.params(row[1])
    return shown(params[name]) if name in params else MISSING


def _made(tuned: Tuned, model: TunedModel) -> str:
    """Return in words how the trials were made."""
    n, failed = len(model.searched), len([t for t in model.searched if t.value is None])
    parts = [f"{tuned.metric}", f"{tuned.search} search, {counted(n, 'trial')}"]
    if failed:
        parts[-1] += f", {failed:,} failed"
    if n > _SHOWN:
        parts[-1] += f", the best {_SHOWN}"
    return " · ".join(parts if tuned.search == "grid" else [*parts, f"seed {tuned.seed}"])


def _reused(model: TunedModel) -> list[str]:
    """Return how many trials an earlier search made, and why others of it were made anew."""
    reused, anew = len([trial for trial in model.searched if _is_reused(trial)]), model.changed
    taken = [counted(reused, "trial")] if reused else []
    taken += ["the model as it is"] if _is_reused(model.untuned) else []
    said = [f"{' and '.join(taken)}, of an earlier search"] if taken else []
    said += [f"evaluated anew: {printable(anew)}"] if anew else []
    said += ["--fresh evaluates all anew"] if taken else []
    if not said:
        return []
    return [f"reused  {'; '.join(said)}" if taken else said[0]]


def _notes(model: TunedModel) -> list[str]:
    notes = []
    if model.unkept is not None:
        why = printable(model.unkept)
        notes.append(f"trials were not kept for another search: {why}")
    if model.best is model.untuned:
        notes.append("no trial was better than the model as it is; its params are kept")
    for name, end in model.at_the_edge.items():
        value = shown(chosen(model.space, model.best)[name])
        notes.append(
            f"the best {name}, {value}, lies at the {end} end of its space; try a wider one"
        )
    if model.again:
        asked = len(model.searched) + model.again
        notes.append(
            f"{model.again:,} of {counted(asked, 'trial')} not made: no other choice of "
            "parameters came up"
        )
    failed = Counter(t.user_attrs["error"] for t in model.trials if t.value is None)
    for message, times in failed.items():
        notes.append(f"failed{f' {times:,} times' if times > 1 else ''}: {message}")
    return [f"note   {printable(note)}" for note in notes]


def ranking(tuned: Tuned, model: TunedModel) -> list[FrozenTrial]:
    """Return the trials that the search made and that did not fail, the best first."""
    sign = tuned.metric.definition.sign
    return sorted((t for t in model.searched if t.values), key=lambda t: sign * t.values[0])


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


def _model(model: TunedModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "trials": len(model.searched),
        "failed": len([trial for trial in model.searched if trial.value is None]),
        "again": model.again,
        "reused": len([trial for trial in model.searched if _is_reused(trial)]),
        "best": model.trials.index(model.best),
        "at_the_edge": model.at_the_edge,
        "results": [
            {
                "trial": at,
                "params": json_value(model.params(trial)),
                "mean": trial.value,
                "ci95": trial.user_attrs.get("ci95"),
                "seconds": trial.user_attrs["seconds"],
                "error": trial.user_attrs.get("error"),
                "reused": _is_reused(trial),
            }
            for at, trial in enumerate(model.trials)
        ],
    }


def _is_reused(trial: FrozenTrial) -> bool:
    """Return whether an earlier search made a trial."""
    return "reused" in trial.user_attrs
