"""The order in which a space of parameters is tried: at random, one by one, or as TPE proposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from harness.config.space import Domain, Range, SearchName
from harness.core.errors import UsageError
from harness.core.random import generator
from harness.stats.intervals import Interval

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study

DEFAULT_TRIALS = 30
_PATIENCE = 20  # after so many draws a trial no new choice is expected

Params = Mapping[str, Any]
Space = Mapping[str, Domain]


class Trial(BaseModel):
    """A choice of parameters that was tried."""

    trial: int
    """Its number; 0 is the model as it was."""
    params: dict[str, Any]
    """All that the model was made with."""
    mean: float | None
    """Over the users of the inner set; None where the model failed."""
    ci95: Interval | None
    seconds: float
    error: str | None
    """What it raised."""
    reused: bool
    """Whether an earlier search made it, and its score was taken from there."""


class Score(NamedTuple):
    """What a choice of parameters scored; see `Trial`."""

    mean: float | None = None
    ci95: Interval | None = None
    seconds: float = 0.0
    error: str | None = None
    reused: bool = False


def trials_of(space: Space, search: SearchName, asked: int | None) -> int:
    """Return how many trials a search makes."""
    if search != "grid":
        return asked or DEFAULT_TRIALS
    for name, domain in space.items():
        if isinstance(domain, Range):
            raise UsageError(
                f'search = "grid" needs lists, and space.{name} is a range; write the values to '
                f'try, as {name} = [{domain.low}, {domain.high}], or use search = "random"'
            )
    combinations = prod(len(domain) for domain in space.values() if isinstance(domain, tuple))
    if asked is not None and asked < combinations:
        raise UsageError(
            f"trials = {asked:,} are fewer than the grid's {combinations:,} combinations; remove "
            'trials, shorten a list, or use search = "random"'
        )
    return combinations


def run_search(
    space: Space,
    params: Params,
    search: SearchName,
    trials: int,
    seed: int,
    sign: int,
    score: Callable[[Sequence[Params]], Mapping[str, Score]],
) -> list[Trial]:
    """Score a model as it is, then so many different choices of parameters.

    ``tpe`` is the tree-structured Parzen estimator (Bergstra et al., 2011), whose first third of
    the trials, ten at most, are random. `sign` is −1 where more is better. `score` returns scores
    by `key_of`; only ``tpe`` asks for one choice after the other. A choice that comes up again
    keeps its score, so a small space may have fewer than `trials`.
    """
    from optuna.trial import TrialState

    study = _study(search, trials, seed, sign)
    distributions = {name: _distribution(domain) for name, domain in space.items()}
    if search == "grid":  # GridSampler's order is one of chance
        for places in product(*(range(len(d)) for d in space.values() if isinstance(d, tuple))):
            study.enqueue_trial(dict(zip(space, places, strict=True)))
    choices, drawn, scores = {key_of(params): dict(params)}, set[str](), dict[str, Score]()

    def score_new() -> None:
        scores.update(score([choice for key, choice in choices.items() if key not in scores]))

    for _ in range(trials if search == "grid" else _PATIENCE * trials):
        draw = study.ask(distributions)
        choice = {**params, **_values(space, draw.params)}
        key = key_of(choice)
        choices.setdefault(key, choice)
        if search == "tpe":
            score_new()
            mean = scores[key].mean
            study.tell(draw, mean, state=TrialState.FAIL if mean is None else TrialState.COMPLETE)
        drawn.add(key)
        if len(drawn) == trials:
            break
    score_new()
    return [
        Trial(trial=number, params=choice, **scores[key]._asdict())
        for number, (key, choice) in enumerate(choices.items())
    ]


def key_of(params: Params) -> str:
    """Return parameters as they are compared: 1, 1.0 and true are three."""
    return repr(sorted((name, repr(value)) for name, value in params.items()))


def _values(space: Space, draws: Params) -> dict[str, Any]:
    """Return the parameters that were drawn, as the model is given them."""
    values = dict(draws)
    for name, domain in space.items():
        if isinstance(domain, tuple):
            values[name] = domain[draws[name]]
        elif not domain.whole:  # four digits, as it is shown
            values[name] = float(min(max(float(f"{draws[name]:.4g}"), domain.low), domain.high))
    return values


def require() -> None:
    """Raise UsageError where Optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "harness tune needs optuna, which is not installed: pip install optuna"
        ) from error


def _study(search: SearchName, trials: int, seed: int, sign: int) -> Study:
    """Return a study in memory; Optuna's own message of it is kept quiet."""
    import optuna

    narrow = int(generator(seed, "tune").integers(2**32))  # its generator takes no wider seed
    startup = max(1, min(10, trials // 3))
    sampler: BaseSampler = (
        optuna.samplers.TPESampler(seed=narrow, n_startup_trials=startup)
        if search == "tpe"
        else optuna.samplers.RandomSampler(seed=narrow)
    )
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            direction="minimize" if sign > 0 else "maximize", sampler=sampler
        )
    finally:
        optuna.logging.set_verbosity(level)


def _distribution(domain: Domain) -> BaseDistribution:
    from optuna import distributions

    if isinstance(domain, tuple):  # positions in the list: its values may be of any type
        return distributions.CategoricalDistribution(range(len(domain)))
    if domain.whole:
        return distributions.IntDistribution(int(domain.low), int(domain.high), log=domain.log)
    return distributions.FloatDistribution(domain.low, domain.high, log=domain.log)
