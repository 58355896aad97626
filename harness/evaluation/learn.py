"""Models that learn from sums over parts of the users, and answer for the users of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.core.errors import RecommenderError, counted
from harness.core.exact_sum import Sums
from harness.core.progress import Clock
from harness.core.steps import Total
from harness.data.dataset import Dataset
from harness.evaluation.answers import Answers, ask
from harness.evaluation.build import itself
from harness.evaluation.failures import Failures
from harness.evaluation.fold import Fold, Models
from harness.evaluation.list_model import PrecomputedLists
from harness.evaluation.plan import Plan, plan_of
from harness.models import guard
from harness.models.base import Recommender, Train
from harness.models.sums import FromSums, Step, Steps, after, fit_all, fits_in_parts
from harness.protocol.task import Task, noted


class Learner(NamedTuple):
    """A repeat of a model that is fitted and asked part by part."""

    repeat: int
    name: str
    model: Recommender


def learners_of(models: Models) -> list[Learner]:
    """Return all repeats of models, without files of lists, which learn nothing."""
    return [
        Learner(repeat, name, model)
        for repeat, by_name in enumerate(models)
        for name, model in by_name.items()
        if not isinstance(itself(model), PrecomputedLists)
    ]


def of_all_events(models: Models) -> list[str]:
    """Return the models that can only learn from all events at once."""
    learners = learners_of(models)
    return list(dict.fromkeys(m.name for m in learners if not fits_in_parts(m.model)))


def learn(fold: Fold, data: Dataset, total: Total[Dataset]) -> tuple[Plan, list[Learner]]:
    """Return the plan of parts, and the models that have learnt from sums over them.

    Models that failed before are left out.

    Parameters
    ----------
    data : Dataset
        As of `plan_of`.

    Raises
    ------
    HarnessError
        What `plan_of` raises; users cannot be sliced as the config says; the sums of a model's
        parts do not add up.
    """
    observer, failed = fold.observer, fold.failures.errors
    with observer.step("evaluation set"), noted(data):
        plan = plan_of(fold.config, data, total)
    learners = [learner for learner in learners_of(fold.models) if learner.name not in failed]
    if len(plan.candidates) == 0 or not learners:  # told when the users are known, too
        return plan, []
    plan.refuse_slices(total)
    with observer.step("fit"):
        _fit(plan, learners, total, fold.clocks, fold.failures)
    n_models = counted(len({learner.name for learner in learners}), "model")
    observer.log(f"fit {n_models}, {observer.seconds['fit']:.1f} s")
    return plan, learners


def _fit(
    plan: Plan,
    learners: Sequence[Learner],
    total: Total[Dataset],
    clocks: Mapping[str, Clock],
    failures: Failures,
) -> None:
    """Fit models by sums over the parts; one that raises is left as it is."""
    train = plan.train_of_all()
    waiting = [
        _timed(name, guard.fit_steps(name, model, train), clocks[name], failures)
        for _, name, model in learners
    ]
    try:
        fit_all(waiting, lambda step: total(partial(plan.on_train, step)))
    except (TypeError, ValueError) as error:  # what models raise is in `failures`
        raise RecommenderError(
            f"the sums of a model's parts do not add up to one: {error}; each part must "
            "return the same keys and shapes"
        ) from error


def ask_part(learner: Learner, task: Task) -> Answers:
    """Return a fitted model's answers for the users of a part."""
    repeat, name, model = learner
    from_sums: FromSums = model  # type: ignore[assignment]
    model = guard.guarded(name, "for_users", lambda: from_sums.for_users(task.train))
    return ask(name, model, task, repeat)


def _timed(name: str, waiting: Steps, clock: Clock, failures: Failures) -> Steps:
    """Yield the steps of a model until it fails; their seconds are counted."""
    sums: Any = {}
    with failures.caught(name), closing(waiting):
        while True:
            with clock.step("fit"):
                step = after(waiting, sums.get("sums"))
            if step is None:
                return
            sums = yield partial(_in_time, name, step, clock, failures)
            if name in failures.errors:
                return
            if "failed" in sums:  # in another process
                raise RecommenderError(min(sums["failed"]))


def _in_time(name: str, step: Step, clock: Clock, failures: Failures, part: Train) -> Sums:
    """Return the sums of a part, or what the model raised."""
    if name not in failures.errors:
        with failures.caught(name), clock.step("fit"):
            return {"sums": step(part)}
    return {"failed": {str(failures.errors[name][0]): np.array([1])}}
