"""Models that fail while others are evaluated: what they raised, and what is left without them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.config import Config
from harness.core.errors import HarnessError, RecommenderError, counted, printable
from harness.results.record import FailedModel

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failures:
    """The models that failed so far; the others do not wait for them.

    Attributes
    ----------
    fail_fast : bool
        Whether the first failure ends the run.
    fold : int, optional
        Which of several is evaluated.
    errors : dict of name to (HarnessError, fold)
        Of all folds: a model that failed in one is not asked in the next.
    """

    fail_fast: bool = False
    fold: int | None = None
    errors: dict[str, tuple[HarnessError, int | None]] = field(default_factory=dict)

    def in_fold(self, number: int) -> Failures:
        """Return the same failures, to which those of a fold are added."""
        return replace(self, fold=number)

    @contextmanager
    def caught(self, name: str) -> Iterator[None]:
        """Keep what a model raises, unless the first failure ends the run."""
        try:
            yield
        except HarnessError as error:
            _log.debug("the traceback of a failure:", exc_info=error)
            if self.fail_fast or name in self.errors:
                raise
            self.errors[name] = error, self.fold
            _log.info("failed: %s", printable(str(error).partition("\n")[0]))

    def add_parts(self, texts: Mapping[str, Mapping[str, object]]) -> None:
        """Add models that failed where other processes asked them, by what they raised there."""
        for name in texts.keys() - self.errors.keys():
            self.errors[name] = RecommenderError(min(texts[name])), self.fold

    def require_others(self, config: Config) -> None:
        """Raise where no model is left.

        Raises
        ------
        HarnessError
            What the only model raised.
        RecommenderError
            What all of several models raised.
        """
        if len(self.errors) < len(config.models):
            return
        errors = [self.errors[model.name][0] for model in config.models]
        if len(errors) == 1:
            raise errors[0]
        reasons = "\n".join(failed.says for failed in self.records(config))
        raise RecommenderError(f"all {len(errors)} models failed:\n{reasons}") from errors[0]

    def without(self, config: Config) -> Config:
        """Return a config of the models that are left; without the baseline all pairs are compared.

        It is no config to evaluate by: models that are left may be made of one that failed.
        """
        models = [model for model in config.models if model.name not in self.errors]
        gone = config.compare.baseline in self.errors
        compare = config.compare.model_copy(update={"baseline": None} if gone else {})
        return config.model_copy(update={"models": models, "compare": compare})

    def records(self, config: Config) -> tuple[FailedModel, ...]:
        """Return what the record says of the models that failed."""
        names = [model.name for model in config.models if model.name in self.errors]
        return tuple(
            FailedModel(name=name, error=self.text(name), fold=self.errors[name][1])
            for name in names
        )

    def text(self, name: str) -> str:
        """Return what a model raised, which may be what one raised that it is made of."""
        text = str(self.errors[name][0])
        if text.startswith('model "') and not text.startswith(f'model "{name}"'):
            return f'model "{name}" needs one that failed: {text}'
        return text

    def notes(self, config: Config) -> tuple[str, ...]:
        """Return what becomes of the comparison without them."""
        baseline = config.compare.baseline
        if baseline not in self.errors:
            return ()
        n = len(config.models) - len(self.errors)
        rest = counted(n, "model that is", "models that are")
        return (f'the baseline "{baseline}" failed: the {rest} left are compared pair by pair',)
