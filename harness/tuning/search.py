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

DEFAULT_TRIALS = 30
_PATIENCE = 20
"""After so many draws a trial no new choice is expected."""

Params = Mapping[str, Any]
Space = Mapping[str, Domain]
Attempt = Callable[[dict[str, Any]], float | None]
"""Parameters in, their score out; None where they failed."""


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
    space: Space,
    search: SearchName,
    trials: int,
    seed: int,
    lower_is_better: bool,
    attempt: Attempt,
) -> None:
    """Call `attempt` with so many different choices of parameters, one after the other.

    A choice may come up again in between; a small space may have fewer than are asked for.

    ``random`` draws every parameter uniformly from its domain (of a range with log: its logarithm).
    ``grid`` goes through all combinations, the last parameter fastest. ``tpe`` is the
    tree-structured Parzen estimator (Bergstra et al., 2011) as Optuna has it, the first third of
    the trials, ten at most, at random.

    Raises
    ------
    UsageError
        Optuna, which the first and the last need, is not installed.
    """
    if search == "grid":
        for values in product(*(d for d in space.values() if isinstance(d, tuple))):
            attempt(dict(zip(space, values, strict=True)))
        return
    optuna = _optuna()
    narrow = int(generator(seed, "tune").integers(2**32))  # its generator takes no wider seed
    sampler = _sampler(optuna, search, trials, narrow)
    study = _study(optuna, sampler, "minimize" if lower_is_better else "maximize")
    distributions = {name: _distribution(domain) for name, domain in space.items()}
    seen = set[str]()
    for _ in range(_PATIENCE * trials):
        trial = study.ask(distributions)
        found = {name: _value(space[name], drawn) for name, drawn in trial.params.items()}
        value = attempt(found)
        study.tell(trial, value, state=optuna.trial.TrialState.FAIL if value is None else None)
        seen.add(repr(found))
        if len(seen) == trials:
            break


def require(search: SearchName) -> None:
    """Raise UsageError where a search needs what is not installed."""
    if search != "grid":
        _optuna()


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise UsageError(
            'harness tune needs optuna, which is not installed: pip install "submission-harness'
            '[tune]"; search = "grid" does without'
        ) from error
    return optuna


def _sampler(optuna: Any, search: SearchName, trials: int, seed: int) -> Any:
    if search == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=max(1, min(10, trials // 3)))


def _study(optuna: Any, sampler: Any, direction: str) -> Any:
    """Return a study in memory; Optuna's own message of it is kept quiet."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(direction=direction, sampler=sampler)
    finally:
        optuna.logging.set_verbosity(level)


def _distribution(domain: Domain) -> BaseDistribution:
    from optuna import distributions

    if isinstance(domain, tuple):  # positions in the list: its values may be of any type
        return distributions.CategoricalDistribution(range(len(domain)))
    if domain.whole:
        return distributions.IntDistribution(int(domain.low), int(domain.high), log=domain.log)
    return distributions.FloatDistribution(domain.low, domain.high, log=domain.log)


def _value(domain: Domain, found: Any) -> Any:
    """Return a drawn value, of a range of fractions with four digits, as it is shown."""
    if isinstance(domain, tuple):
        return domain[found]
    if domain.whole:
        return found
    return float(min(max(float(f"{found:.4g}"), domain.low), domain.high))
