"""What a page shows of a run: its document, with what every chart and table asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.core.errors import UsageError, printable
from harness.core.once import once
from harness.core.table import MISSING, digits_of
from harness.experiment.run_folder import Run

_PARTS = ("chance", "comparison", "shake_up", "slices", "bridge", "notes", "seconds")
_OF_MODEL = ("repeats", "vs_random", "curve", "described", "seconds")

Document = dict[str, Any]


class View:
    """A run as the page looks at it; models are known by their position, best first.

    Attributes
    ----------
    metric : str
        The first metric, which charts and tests go by.
    """

    def __init__(self, run: Run) -> None:
        _refuse_older(run)
        self.run = run
        self.document: Document = run.document
        self.models: list[Document] = list(run.document["models"])
        self.names = [str(m["name"]) for m in self.models]
        self.metrics = [str(m) for m in self.models[0]["metrics"]]
        self.metric = self.metrics[0]

    @once
    def at(self) -> dict[str, int]:
        """The position of each model."""
        return {name: i for i, name in enumerate(self.names)}

    @once
    def decimals(self) -> int:
        """How many decimals the first metric needs."""
        return decimals([m["metrics"][self.metric]["mean"] for m in self.models])

    @once
    def higher_first(self) -> bool:
        """Whether the best stands first because its mean is the highest."""
        first, last = (self.models[i]["metrics"][self.metric]["mean"] for i in (0, -1))
        return bool(first >= last)

    @property
    def chance(self) -> Document | None:
        """The first metric of a random ranking, if that is known."""
        found = self.document["chance"].get(self.metric)
        return None if found is None else dict(found)

    @property
    def comparison(self) -> Document | None:
        """The pairs of models, if there are any."""
        found = self.document["comparison"]
        return dict(found) if found and found["pairs"] else None

    def mean(self, model: Document) -> float:
        """Return a model's mean under the first metric."""
        return float(model["metrics"][self.metric]["mean"])

    def ends(self, model: Document) -> tuple[float, float] | None:
        """Return the 95 % interval of that mean, if it has one."""
        bounds = model["metrics"][self.metric]["ci95"]
        return None if bounds is None else (float(bounds[0]), float(bounds[1]))


def _refuse_older(run: Run) -> None:
    """Raise UsageError where a run lacks what this version writes."""
    lacks = [part for part in _PARTS if part not in run.document]
    lacks += [part for m in run.document["models"] for part in _OF_MODEL if part not in m]
    if (run.document.get("bridge") or {}).get("with_items") is None:
        lacks.append("bridge.with_items")
    if lacks:
        raise UsageError(
            f"{run.folder}: was made by an earlier version (no {lacks[0]} in its result.json); "
            f"run it again: harness run {run.folder / 'config.toml'}"
        )


def decimals(values: Sequence[float]) -> int:
    """Return the decimals that a column of numbers needs, fewer where they are large."""
    largest = max(map(abs, values), default=0.0)
    if largest >= 10:
        return 1 if largest >= 100 else 2
    return digits_of(values)


def shown(value: float | None, places: int) -> str:
    """Return a number with a true minus sign, or a dash where there is none.

    Examples
    --------
    >>> shown(-0.01234, 4), shown(None, 4)
    ('−0.0123', '–')
    """
    if value is None:
        return MISSING
    return f"{value:,.{places}f}".replace("-", "−")


def spread(ends: Sequence[float] | None, places: int) -> str:
    """Return an interval."""
    if ends is None:
        return MISSING
    return " … ".join(shown(end, places) for end in ends)


def cut(name: str, longest: int) -> str:
    """Return a name short enough for a label; both ends stay, as names often differ at the end.

    Examples
    --------
    >>> cut("popular, 14 days of train", 15)
    'popular…f train'
    """
    text = printable(name)
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[head + 1 - longest :]}"
