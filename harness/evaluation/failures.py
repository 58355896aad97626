"""Models that fail while others are evaluated: what they raised, and what is left without them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.config import Config
from harness.core.errors import HarnessError, RecommenderError, counted, printable
from harness.evaluation.build import with_models
from harness.results.record import FailedModel

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failures:
    """The models that failed so far, in any fold; none is asked again.

    `errors` are what they raised, `failed` what the record says of them.
    """

    fail_fast: bool = False
    fold: int | None = None
    errors: dict[str, HarnessError] = field(default_factory=dict)
    failed: dict[str, FailedModel] = field(default_factory=dict)

    def copy(self) -> Failures:
        """Return failures that others are added to on their own, as those of a part are."""
        return replace(self, errors=self.errors.copy(), failed=self.failed.copy())

    @contextmanager
    def caught(self, name: str) -> Iterator[None]:
        """Keep what a model raises, unless the first failure ends the run."""
        try:
            yield
        except HarnessError as error:
            _log.debug("the traceback of a failure:", exc_info=error)
            if self.fail_fast:
                raise
            self.add(name, error)
            _log.info("failed: %s", printable(str(error).partition("\n")[0]))

    def add(self, name: str, error: HarnessError) -> None:
        """Add a model that raised, or is made of one that did."""
        text = str(error)
        if text.startswith('model "') and not text.startswith(f'model "{name}"'):
            text = f'model "{name}" needs one that failed: {text}'
        self.errors[name] = error
        self.failed[name] = FailedModel(name=name, error=text, fold=self.fold)

    def add_parts(self, texts: Mapping[str, Mapping[str, object]]) -> None:
        """Add models that failed where other processes asked them, by what they raised there."""
        for name in texts.keys() - self.errors.keys():
            self.add(name, RecommenderError(min(texts[name])))

    def require_others(self, config: Config) -> None:
        """Raise what the only model raised, or RecommenderError where all of several failed."""
        if len(self.errors) < len(config.models):
            return
        first = self.errors[config.models[0].name]
        if len(self.errors) == 1:
            raise first
        reasons = "\n".join(model.says for model in self.records(config))
        raise RecommenderError(f"all {len(self.errors)} models failed:\n{reasons}") from first

    def without(self, config: Config) -> Config:
        """Return a config of the models that are left; without the baseline all pairs are compared.

        It is no config to evaluate by: models that are left may be made of one that failed.
        """
        return with_models(config, [m.name for m in config.models if m.name not in self.errors])

    def records(self, config: Config) -> tuple[FailedModel, ...]:
        """Return what the record says of the models that failed, in the config's order."""
        return tuple(self.failed[m.name] for m in config.models if m.name in self.failed)

    def notes(self, config: Config) -> tuple[str, ...]:
        """Return what becomes of the comparison without them."""
        baseline = config.compare.baseline
        if baseline not in self.errors:
            return ()
        n = len(config.models) - len(self.errors)
        rest = counted(n, "model that is", "models that are")
        return (f'the baseline "{baseline}" failed: the {rest} left are compared pair by pair',)
