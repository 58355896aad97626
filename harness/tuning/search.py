"""The order in which a space of parameters is tried: at random, one by one, or as TPE proposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from harness.config.space import Domain, Range, SearchName
from harness.core.errors import UsageError
from harness.core.random import generator

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

DEFAULT_TRIALS = 30
_PATIENCE = 20
"""After so many draws a trial no new choice is expected."""

Params = Mapping[str, Any]
Space = Mapping[str, Domain]
Scored = tuple[float | None, dict[str, Any]]
"""A score, None of parameters that failed, and what a trial notes beside it."""
Score = Callable[[Params], Scored]


def trials_of(space: Space, search: SearchName, asked: int | None) -> int:
    """Return how many trials a search makes.

    Raises
    ------
    UsageError
        A grid over a range, or over more combinations than the trials asked for.
    """
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
            f"trials = {asked:,} are fewer than the grid's {combinations:,} combinations; leave "
            'trials out, shorten a list, or use search = "random"'
        )
    return combinations


def run_search(
    space: Space, given: Params, search: SearchName, trials: int, seed: int, sign: int, score: Score
) -> tuple[FrozenTrial, ...]:
    """Score a model as it is, then so many different choices of parameters, one after the other.

    ``random`` draws every parameter uniformly from its domain (of a range with log: its logarithm).
    ``grid`` goes through all combinations, the last parameter fastest. ``tpe`` is the
    tree-structured Parzen estimator (Bergstra et al., 2011) as Optuna has it, the first third of
    the trials, ten at most, at random.

    Parameters
    ----------
    given : mapping
        The model's `params` as they are.
    sign : int
        −1 where more is better, +1 where less is.

    Returns
    -------
    tuple of optuna.trial.FrozenTrial
        First the model as it is, then those of the search. A choice that comes up again is
        answered with the score it had, so a small space may have fewer than are asked for.
    """
    from optuna.trial import TrialState, create_trial

    study = _study(search, trials, seed, sign)
    distributions = {name: _distribution(domain) for name, domain in space.items()}
    if search == "grid":  # GridSampler's order is one of chance
        for at in product(*(range(len(d)) for d in space.values() if isinstance(d, tuple))):
            study.enqueue_trial(dict(zip(space, at, strict=True)))
    value, noted = score(given)
    states = {True: TrialState.FAIL, False: TrialState.COMPLETE}
    first = create_trial(state=states[value is None], value=value, user_attrs=noted)
    made, drawn = {written(given): first}, set[str]()
    for _ in range(trials if search == "grid" else _PATIENCE * trials):
        trial = study.ask(distributions)
        params = {**given, **chosen(space, trial)}
        known = made.get(written(params))
        value, noted = score(params) if known is None else (known.value, {})
        for name, one in noted.items():
            trial.set_user_attr(name, one)
        told = study.tell(trial, value, state=states[value is None])
        made.setdefault(written(params), told)
        drawn.add(written(params))
        if len(drawn) == trials:
            break
    return tuple(made.values())


def proposed(search: Callable[[Score], object]) -> list[Params]:
    """Return all parameters that a search scores, where that does not depend on scores."""
    proposals: list[Params] = []

    def note(params: Params) -> Scored:
        proposals.append(params)
        return 0.0, {}

    search(note)
    return proposals


def written(params: Params) -> str:
    """Return parameters as they are compared: 1, 1.0 and true are three."""
    return repr(sorted((name, repr(value)) for name, value in params.items()))


def chosen(space: Space, trial: Trial | FrozenTrial) -> dict[str, Any]:
    """Return what a trial draws, as the model is given it; nothing of a trial without draws."""
    values = dict(trial.params)
    for name, drawn in trial.params.items():
        domain = space[name]
        if isinstance(domain, tuple):
            values[name] = domain[drawn]
        elif not domain.whole:  # four digits, as it is shown
            values[name] = float(min(max(float(f"{drawn:.4g}"), domain.low), domain.high))
    return values


def require() -> None:
    """Raise UsageError where Optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise UsageError(
            'harness tune needs optuna, which is not installed: pip install "submission-harness'
            '[tune]"'
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
