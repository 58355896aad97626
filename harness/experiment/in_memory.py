"""What asks the models of a fold with all events in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import polars as pl

from harness.config import ModelConfig
from harness.core.progress import Clock, Observer
from harness.data.dataset import Dataset
from harness.experiment.answers import Answers, ask_in_turn
from harness.experiment.fold import FoldModels
from harness.metrics import Metric, needs
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import left_out
from harness.protocol.task import Task, of_users, task_on
from harness.protocol.users import of_events


class InMemory:
    """The models of a fold, fitted and asked one repeat after the other: an `Evaluator`."""

    def __init__(self, fold: FoldModels, data: Dataset) -> None:
        self.fold, self.events = fold, len(data.events)
        self.task = task_on(fold.config, data, fold.observer)

    @cached_property
    def left_out(self) -> Task:
        """The task with the users whom the evaluation set leaves out."""
        task = self.task
        rules = task.config.evaluation
        return of_users(task, left_out(task.evaluation_set, task.data, task.split, rules))

    @cached_property
    def profile(self) -> pl.DataFrame:
        """What is known of the evaluated users."""
        return of_events(self.task)

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return of_train(self.task.train, needs(metrics))

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers, and the seconds that they took."""
        # Taken out, so that a model's memory is free again unless others are made of it.
        repeats = (models.pop(settings.name) for models in self.fold.models[: settings.repeats])
        observer = Observer(bars=self.fold.observer.bars)
        return ask_in_turn(repeats, settings, self.task, self.left_out, observer), observer
