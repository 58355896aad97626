"""The tables of the page, in the words of the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import groupby

from harness.core.errors import counted, in_toml, printable
from harness.core.table import Column, Sheet, digits_of, ends, number, percent
from harness.results.record import ModelRecord, RunRecord
from harness.results.wording import decimals_of, models_sheet, name_of
from harness.stats.slices import Slice, column_title


def models(record: RunRecord) -> Sheet:
    """Return the main table: the verdict stands beside the mean, chance beside the verdict."""
    sheet = models_sheet(record, verbose=True)
    mean, interval, lift, verdict = sheet.columns[1:5]
    lift = replace(lift, title="× chance")
    return replace(
        sheet,
        columns=[sheet.columns[0], mean, verdict, lift, interval, *sheet.columns[5:]],
        rows=[[row[0], row[1], row[4], row[3], row[2], *row[5:]] for row in sheet.rows],
    )


def _of_models(record: RunRecord, cells: dict[str, Callable[[ModelRecord], str]]) -> Sheet:
    columns = [Column(title, cell) for title, cell in cells.items()]
    return Sheet.of(record.models, [Column("model", name_of, "name"), *columns])


def slices(record: RunRecord) -> dict[str, Sheet]:
    """Return a table for each column of users, with a row a model and a column a group."""
    digits = decimals_of(record)

    def mean(part: Slice, model: ModelRecord) -> str:
        estimate = part.models[model.name]
        bounds = f" ({ends(estimate.ci95, digits)})" if estimate.ci95 else ""
        return number(estimate.mean, digits) + bounds

    return {
        column_title(by): _of_models(
            record, {f"{part.label}, n = {part.users:,}": partial(mean, part) for part in parts}
        )
        for by, parts in groupby(record.slices, key=lambda part: part.by)
    }


def descriptions(record: RunRecord) -> Sheet:
    """Return the coverage and the popularity of every model's lists."""

    def shown(name: str, model: ModelRecord) -> str:
        value = model.described.get(name)
        if value is None:
            return ""
        return percent(value) if name.startswith("Coverage") else number(value, 1)

    names = dict.fromkeys(name for model in record.models for name in model.described)
    return _of_models(record, {name: partial(shown, name) for name in names})


def leaderboard_estimates(record: RunRecord) -> Sheet | None:
    """Return every model's leaderboard estimates; None for a metric that has none."""
    bridge = record.bridge
    if bridge is None or not bridge.models:
        return None
    values = [v for by in bridge.models.values() for v in (by.window, by.sample) if v is not None]
    digits = max(decimals_of(record), digits_of(values))

    def estimated(key: str, model: ModelRecord) -> str:
        by = bridge.models[model.name]
        value = getattr(by, key)
        return "at least " * (by.at_least and value is not None) + number(value, digits)

    cells: dict[str, Callable[[ModelRecord], str]] = {
        f"these {counted(bridge.examined, 'user')}": lambda model: number(
            model.metrics[record.metric].mean, digits
        ),
        f"{counted(bridge.with_items or 0, 'user')} with true items": partial(estimated, "window"),
    }
    if bridge.sample is not None:
        ids = f"all {counted(bridge.sample, 'id')} of the sample submission"
        cells[ids] = partial(estimated, "sample")
    return _of_models(record, cells)


def made_of(record: RunRecord) -> Sheet:
    """Return what each model is; runs of earlier versions do not say it."""

    def text(model: ModelRecord) -> str:
        if model.use is None:
            return f"lists of {', '.join(model.lists)}" if model.lists else ""
        params = [
            f"{key} = {'none' if value is None else in_toml(value)}"
            for key, value in model.params.items()
        ]
        base_models = f", made of {' and '.join(model.of)}" if model.of else ""
        return printable(f"{model.use}({', '.join(params)}){base_models}")

    columns = [Column("model", name_of, "name"), Column("made with", text, "words")]
    return Sheet.of(record.models, columns)
