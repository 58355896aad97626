"""What the competition of a config asks of submissions; its events are not read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Config, SubmissionConfig
from harness.core.errors import DataError, HarnessError
from harness.core.io import find
from harness.data import attributes
from harness.data.layout import AttributeTable, Layout
from harness.data.naming import is_one_file
from harness.data.oddities import lost_zero
from harness.submission import format
from harness.submission.expected import Against, columns, ids, of_sample, spelt, with_sample
from harness.submission.format import Format
from harness.submission.keys import Known, learnt, nothing

if TYPE_CHECKING:
    import polars as pl

    from harness.protocol.evaluation_set import EvaluationSet
    from harness.protocol.leaderboard_estimate import Sample

_SAMPLE = "sample_submission.csv"
_TEXT = (".csv", ".csv.gz", ".csv.zip", ".zip")


def of_config(config: Config) -> Against:
    """Return what the competition of a config asks for; its events are not read.

    The ids are those of the sample submission beside the data, or else of the table of users; where
    there is neither, nobody's row is asked for. DataError where a file cannot be read.
    """
    layout, sample = config.layout(), sample_of(config)
    users, (items, lost) = layout.users, _items_of(layout)
    wanted = _format(config, sample)
    against = Against(items=items, format=wanted, zeros=lost, k=config.evaluation.k)
    against = with_sample(against, sample, config.submission.separator, "as the config says")
    if sample is not None or users is None:
        return against
    if _is_plain(users):
        return against.asking(find(users.path), users.id)
    known = learnt(_texts(users))
    return replace(against, users=known, required=len(known))


def sample_of_users(
    config: Config, evaluation_set: EvaluationSet, left_out: EvaluationSet
) -> tuple[Sample | None, tuple[str, ...]]:
    """Return the ids that a leaderboard averages with or without true items, and what to know.

    They are those of the sample submission, if the competition averages all of them. One that
    cannot be read costs the score over its ids, not the run.
    """
    from harness.protocol.leaderboard_estimate import Sample, with_items  # slow to import

    try:
        sample = sample_of(config)
        wanted = None if sample is None else _format(config, sample)
        if sample is None or wanted is None or not wanted.averages_everyone:
            return None, ()
        known = ids(sample, spelt(wanted.user, columns(sample)))
    except HarnessError as error:
        return None, (f"no estimate over the sample submission: {error}",)
    if not known:
        return None, ()
    return Sample(len(known), known.has(with_items(evaluation_set, left_out))), ()


def sample_of(config: Config) -> Path | None:
    """Return the sample submission that the config names, or that stands beside the data."""
    if config.submission.sample is False:
        return None
    events = config.layout().events[0]
    if config.submission.sample is not None:
        return config.folder / config.submission.sample
    with suppress(DataError):
        return None if events.is_frame else find(events.path.parent / _SAMPLE)
    return None


def _format(config: Config, sample: Path | None) -> Format | None:
    """Return the format of the layout, or of the sample, with what the config changes."""
    submission = config.submission
    wanted = format.FORMATS.get(config.data.layout)
    if wanted is None and sample is not None:
        wanted = of_sample(sample)
    # A run's config.toml has the defaults in; a sample that is there has told its columns above.
    columns = submission.model_copy(update={"sample": None, "ids": None})
    if wanted is None and columns == SubmissionConfig():
        return None  # the file's own header will say
    return format.as_said(submission, wanted or format.generic("user", "item"))


def _items_of(layout: Layout) -> tuple[Known, str]:
    """Return all items of the layout's table, and which of their ids lost leading zeros, if any."""
    table, width, restored = layout.items, layout.id_width, layout.restore_zeros
    if table is None:
        return nothing(), ""
    texts = _texts(table)
    items = learnt(texts.str.zfill(width or 0) if restored else texts)
    if width is None or restored or items.width == width or table.remote:
        return items, ""
    short, name = lost_zero(texts, width), table.path.name
    if short.is_empty():
        return items, ""
    return items, f'{len(short):,} of {len(texts):,} in {name}, such as "{short[0]}"'


def _is_plain(table: AttributeTable) -> bool:
    """Return whether it is one CSV with a header, which the reader of submissions reads too."""
    if table.remote or table.is_frame or not is_one_file(table):
        return False
    path = find(table.path)
    plain = AttributeTable(
        table.file, id=table.id, since=table.since, time_format=table.time_format
    )
    return path.is_file() and path.name.endswith(_TEXT) and table == plain


def _texts(table: AttributeTable) -> pl.Series:
    return attributes.read(table, [])[table.id]
