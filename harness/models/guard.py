"""Recommenders that others wrote: made, called, and what they raise told with the model's name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral
from typing import Any, cast

from harness.core.errors import HarnessError, RecommenderError, UsageError, in_toml, suggest
from harness.core.exact_sum import Sums
from harness.core.params import ParameterError
from harness.core.plugins import raise_interrupt, told
from harness.models.base import Recommender, Train
from harness.models.sums import Step, Steps, after, steps_of, whole

_SEEDS = ("seed", "random_state")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def made(
    name: str, use: str, factory: Callable[..., Any], params: Mapping[str, Any]
) -> Recommender:
    """Return the recommender that a class makes of `params`; raise UsageError if it makes none."""
    _check_params(name, use, factory, params)
    try:
        model = factory(**params)
    except BaseException as error:
        raise_interrupt(error)
        raise UsageError(
            f'model "{name}": {use} cannot be made with these parameters: {told(error)}'
        ) from error
    return checked(name, use, model)


def checked(name: str, use: str, model: Any) -> Recommender:
    """Return an object as a recommender; raise UsageError where it is none."""
    for method in ("fit", "recommend"):
        if not callable(getattr(model, method, None)):
            raise UsageError(
                f'model "{name}": {use} has no method "{method}"; a model has fit(train) and '
                "recommend(users, k, draws, exclude=None)"
            )
    return cast(Recommender, model)


def seeds(factory: Any, params: Mapping[str, Any]) -> dict[str, int]:
    """Return the value of every parameter `seed` and `random_state` that is a whole number."""
    values = {name: params.get(name, defaults(factory).get(name)) for name in _SEEDS}
    return {
        name: int(value)
        for name, value in values.items()
        if isinstance(value, Integral) and not isinstance(value, bool)
    }


def defaults(factory: Any) -> dict[str, Any]:
    """Return the defaults of a class's parameters, of those that have one."""
    return {
        name: about.default
        for name, about in _accepted(factory).items()
        if about.kind in _NAMED and about.default is not about.empty
    }


def guarded(name: str, method: str, call: Callable[[], Any]) -> Any:
    """Return what a method of the model `name` answers; errors are HarnessErrors that name it."""
    try:
        answer = call()
    except ParameterError as error:
        raise UsageError(f'model "{name}": {error}') from error
    except HarnessError as error:
        if not isinstance(error, RecommenderError) and not str(error).startswith('model "'):
            error.args = (f'model "{name}": {error}',)  # in place: it may hold more than its words
        raise
    except BaseException as error:  # a stranger's code may raise anything
        raise_interrupt(error)
        raise RecommenderError(f'model "{name}" raised in {method}: {told(error)}') from error
    if answer is None:
        expected = "an array" if method == "recommend" else "self"
        raise RecommenderError(f'model "{name}": {method} returned None; expected {expected}')
    return answer


def fit_steps(name: str, model: Any, train: Train) -> Steps:
    """Yield the steps of the model `name`, whose sums must be of whole numbers, `guarded`."""
    call = partial(guarded, name, "fit_steps")
    steps = call(partial(steps_of, model, train))
    (step,) = call(partial(_after, steps))
    while step is not None:
        # No name holds the total while the next one is made.
        (step,) = call(partial(_after, steps, (yield partial(_sums_of, call, step))))


def _after(steps: Steps, total: Sums | None = None) -> tuple[Step | None]:
    return (after(steps, total),)  # `guarded` refuses None


def _sums_of(call: Callable[[Callable[[], Any]], Any], step: Step, part: Train) -> Sums:
    sums: Sums = call(lambda: whole(step(part)))
    return sums


def stored(model: Any) -> dict[str, Any]:
    """Return the parameters that an object was made with, as far as it has stored them."""
    if model is None:
        return {}
    names = [name for name, about in _accepted(type(model)).items() if about.kind in _NAMED]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def _accepted(factory: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class; any where it does not tell, as one written in C may."""
    try:
        return inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {"params": inspect.Parameter("params", inspect.Parameter.VAR_KEYWORD)}


def _check_params(name: str, use: str, factory: Any, params: Mapping[str, Any]) -> None:
    accepted = _accepted(factory)
    if any(about.kind is inspect.Parameter.VAR_KEYWORD for about in accepted.values()):
        return
    models = accepted.get("models")
    if models is not None and models.default is models.empty and "models" not in params:
        raise UsageError(f'model "{name}": {use} combines other models; name them in of')
    for param, about in accepted.items():
        if about.default is about.empty and param not in params and about.kind in _NAMED:
            raise UsageError(
                f'model "{name}": {use} needs the parameter "{param}"; set it under params'
            )
    removed = getattr(factory, "removed", {})
    for param, value in params.items():
        for gone in (param, f"{param} = {in_toml(value)}"):
            if gone in removed:
                raise UsageError(f'model "{name}": {use} no longer has {gone}; {removed[gone]}')
        if param not in accepted:
            raise UsageError(
                f'model "{name}": {use} has no parameter "{param}"; {suggest(param, accepted)}'
            )
