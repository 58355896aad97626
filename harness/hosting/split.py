"""A task as the files of a competition: events to learn from, a solution, a sample submission."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.config import Config
from harness.core.arrays import Bool
from harness.core.errors import DataError, UsageError
from harness.core.io import whole_folder, written
from harness.core.progress import doing
from harness.core.random import mixed
from harness.data.dataset import DAY_US, ITEM, KIND, TIME, USER, VALUE, Events
from harness.evaluation.fold import HeldOut, named, require_files, tasks
from harness.evaluation.inputs import config_in_place
from harness.hosting.submit import (
    OTHERWISE,
    columns_of,
    form_of,
    read_by,
    refuse_unreadable,
    rows_of,
    shown_id,
)
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import Task
from harness.protocol.users import OWN
from harness.results.folder import check_out
from harness.results.record import Evaluation, Part, Positive
from harness.scoring import competition
from harness.scoring.validate import validate
from harness.stats.shakeup import public_users
from harness.submission.expected import Against
from harness.submission.format import FORMATS, Format, generic
from harness.submission.solution import of_file

TRAIN, VALID, ITEMS, SOLUTION = "train.csv", "valid.csv", "items.csv", "solution.csv"
SAMPLE, CONFIG, RECORD = "sample_submission.csv", "config.toml", "split.json"
FILES = (TRAIN, VALID, ITEMS, SOLUTION, SAMPLE, CONFIG, RECORD)
_ROWS = 1 << 20
_TIMES = ((DAY_US, "%Y-%m-%d"), (1_000_000, "%Y-%m-%d %H:%M:%S"), (1, "%Y-%m-%d %H:%M:%S%.6f"))
"""How times are written that are whole multiples of so many microseconds."""
_SIGNS = r"""[,;|\s]|^[\[({'"]|[\])}'"]$"""
"""What may stand between true items, or around them."""


class SplitRecord(Part):
    """What split.json holds."""

    evaluation: Evaluation
    train: Positive
    """Events in train.csv."""
    valid: Positive
    """Events in valid.csv."""
    held_back: NonNegativeInt
    """Events in neither file."""
    public_share: float
    """The share of the evaluated users that was asked for on the public leaderboard."""
    public: Positive
    """Users on the public leaderboard."""
    private: Positive
    """Users on the private leaderboard."""
    sample: Positive
    """Rows of the sample submission."""
    without_items: NonNegativeInt
    """Evaluated users without a true item, who score 0."""
    separator: str | None = None
    """What stands between items, where it is no space and ``--separator`` must say it."""
    config: str = ""
    """Why there is no config.toml; empty where there is one."""


@dataclass(frozen=True)
class SplitFolder:
    """What was written, and what looked odd in the data and in how they were split."""

    folder: Path
    record: SplitRecord
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FoldedSplit:
    """What was written of several folds: a folder each, within one, and the notes on all."""

    folder: Path
    folds: tuple[SplitFolder, ...]
    notes: tuple[str, ...]


def split(
    config: Config | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    public_share: float | None = None,
) -> SplitFolder | FoldedSplit:
    """Write the files of a competition from a config's evaluation set, all or none.

    With folds, each has its own folder: ``fold-1``, ``fold-2`` and so on.

    A model's lists score the same against solution.csv (public and private users together) as in
    a run of the config.

    Parameters
    ----------
    config : path of a TOML file, or mapping
        A mapping has the sections of the file, as `harness.run` takes them, with frames for files.
    out : path
        The folder to write; it replaces an earlier split there.
    public_share : float, optional
        The share of the evaluated users on the public leaderboard; by default the largest of
        ``[compare] public_shares``.

    Returns
    -------
    SplitFolder or FoldedSplit
        ``record.evaluation.fingerprint``, ``record.public`` and more; a FoldedSplit has one
        SplitFolder per fold.

    Raises
    ------
    HarnessError
        The config or a file cannot be used, the folder is not an earlier split, a leaderboard
        would be empty, or an id is not possible in a solution or a submission.
    """
    config = config_in_place(config)
    require_files(config)
    folds, out = config.folds(), Path(out)
    shares = config.compare.public_shares if public_share is None else [public_share]
    if not shares:
        raise UsageError("[compare] public_shares is empty; name a share, --public-share 0.3")
    share = max(shares)
    if not 0 < share < 1:
        raise UsageError(f"--public-share is {share:g}; expected a number between 0 and 1")
    check_out(out, is_split, "folder of harness split")
    for path in [*(path for fold in folds for path in read_by(fold)), config.folder]:
        if out.resolve() in (path.resolve(), *path.resolve().parents):
            raise UsageError(
                f"{out}: holds {path.name}, an input of this command; choose another --out"
            )
    splits, held_out = list[SplitFolder](), HeldOut(config)
    with written(out, "; choose another --out"), whole_folder(out) as folder:
        for number, task in enumerate(tasks(config), 1):
            name = f"fold-{number}" if len(folds) > 1 else ""
            (folder / name).mkdir(exist_ok=True)
            with named(number, len(folds)):
                held_out.add(task.evaluation_set)
                record = write(task, folder / name, share)
            notes = *task.data.notes, *task.split.notes(task.config.evaluation.seen_items)
            splits.append(SplitFolder(out / name, record, notes))
    if len(folds) == 1:
        return splits[0]
    notes = tuple(held_out.notes([fold.notes for fold in splits]))
    return FoldedSplit(out, tuple(splits), notes)


@doing("writing the files")
def write(task: Task, folder: Path, share: float, rows: int = _ROWS) -> SplitRecord:
    """Write the files of one task into a folder that is there; events some `rows` at a time."""
    evaluation_set, data, parts = task.evaluation_set, task.data, task.split
    public = is_public(evaluation_set, share)
    asked, names = competition.of_config(task.config), columns_of(task.config)
    wanted = _format(task, asked)
    separator = wanted.between if wanted.between != " " else None
    users, _ = rows_of(asked, evaluation_set)
    refuse_unreadable(pl.concat([users, data.user_ids.alias(users.name)]), data.item_ids, wanted)
    _write_solution(evaluation_set, public, wanted, folder / SOLUTION, separator)
    _write_sample(task, users, wanted, folder, separator)
    evaluation_set.candidate_ids.alias(names[1]).to_frame().write_csv(folder / ITEMS)
    for name, events in ((TRAIN, parts.train), (VALID, parts.valid)):
        _write_events(task, events, folder / name, rows, names)
    record = SplitRecord(
        evaluation=Evaluation.of(task),
        train=parts.n_events[0],
        valid=parts.n_events[1],
        held_back=parts.held_back,
        public_share=share,
        public=int(np.count_nonzero(public)),
        private=int(np.count_nonzero(~public)),
        sample=len(users),
        without_items=int(np.count_nonzero(evaluation_set.relevant == 0)),
        separator=separator,
        config=_write_config(task, folder / CONFIG, names, asked),
    )
    values = {"schema": 1, **record.model_dump(mode="json")}
    (folder / RECORD).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return record


def is_split(folder: Path) -> bool:
    """Return whether a folder is empty, or holds splits and nothing else, and may be replaced."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if names and all(re.fullmatch("fold-[0-9]+", name) for name in names):
        return all(any((folder / name).glob("*")) and is_split(folder / name) for name in names)
    return not names or (RECORD in names and names <= set(FILES))


def is_public(evaluation_set: EvaluationSet, share: float) -> Bool:
    """Return which users are on the public leaderboard: those with the lowest hashes, (n,).

    They follow from the ids and the fingerprint alone.
    """
    n = len(evaluation_set.user_ids)
    key = np.array([int(evaluation_set.fingerprint[:16], 16)], np.uint64)
    order = np.argsort(mixed(evaluation_set.user_hashes ^ mixed(key)), kind="stable")
    return np.isin(np.arange(n), order[: public_users(n, share)])


def _format(task: Task, asked: Against) -> Format:
    """Return what lists are written as: the competition's, where its header allows such lists."""
    k = task.evaluation_set.k
    wanted = form_of(task.config, asked, k)
    alike = [known for known in FORMATS.values() if known.columns == wanted.columns]
    if any(known.kinds or (known.k or k) < k for known in alike):  # a reader may go by it
        return replace(generic(USER, ITEM).cut_at(k), between=wanted.between)
    return wanted


def _write_solution(
    evaluation_set: EvaluationSet, public: Bool, wanted: Format, path: Path, separator: str | None
) -> None:
    """Write the true items of all users, candidates or not: lists, or with grades a row each."""
    # What stands between items in one file may be part of an id in another, so it is read again.
    truth, users = evaluation_set.truth, np.arange(len(public), dtype=np.int32)
    sizes = truth.sizes, evaluation_set.relevant - truth.sizes
    ids = evaluation_set.candidate_ids.gather(truth.indices), evaluation_set.outside_ids
    rows = np.concatenate([np.repeat(users, size) for size in sizes])
    items = pl.DataFrame({"row": rows, ITEM: pl.concat([part.alias(ITEM) for part in ids])})
    if evaluation_set.grades is not None and evaluation_set.outside_grades is not None:
        grades = np.concatenate([evaluation_set.grades, evaluation_set.outside_grades])
        items = items.with_columns(grade=grades)
    items = items.sort("row", ITEM)
    true = items[ITEM]
    columns = [pl.col(USER).alias(wanted.user), pl.col(ITEM).alias(wanted.items)]
    if "grade" in items.columns:  # a user without true items has a row of grade 0
        columns[1] = columns[1].fill_null(evaluation_set.candidate_ids[0])
        columns.append(pl.col("grade").fill_null(0))
    else:
        items = items.group_by("row").agg(pl.col(ITEM).str.join(wanted.between))
    usage = np.where(public, "Public", "Private")
    frame = pl.DataFrame({"row": users, USER: evaluation_set.user_ids, "Usage": usage})
    frame = frame.join(items, on="row", how="left", maintain_order="left_right")
    frame.select([*columns, "Usage"]).write_csv(path)
    _refuse_misread(evaluation_set, true, path, separator)


def _refuse_misread(
    evaluation_set: EvaluationSet, true: pl.Series, path: Path, separator: str | None
) -> None:
    """Raise UsageError where a solution would not be read as the true items it was made of."""
    reason = f"{SOLUTION} would be read back with other items"
    try:
        solution = of_file(path, keep_users_without_items=True, between=separator)
    except DataError as error:
        misread, message = true.filter(true.str.contains(_SIGNS)), str(error)
    else:
        misread, message = true.filter(~true.is_in(solution.items.implode())), reason
        same_users = solution.users.equals(evaluation_set.user_ids)
        relevant = solution.judgments.relevant
        if same_users and np.array_equal(relevant, evaluation_set.relevant) and misread.is_empty():
            return
    if len(misread) > 0:
        message = (
            f"{reason}: item {shown_id(misread[0])} contains a separator, bracket or quote (a "
            "space, comma, semicolon, bar, bracket, quote or line end)"
        )
    raise UsageError(f"{message}; {OTHERWISE}".replace(f"{path.parent}/", ""))


def _write_sample(
    task: Task, users: pl.Series, wanted: Format, folder: Path, separator: str | None
) -> None:
    """Write one list for everyone: the candidates with most training events, ties by id."""
    # It is valid by the solution beside it. Without a table of items, a candidate such as NA, or
    # one of another shape than all true items, looks damaged there: then only true items are in it.
    evaluation_set, sums = task.evaluation_set, task.train.candidate_sums()
    sample, messages = folder / SAMPLE, list[str]()
    for items in (np.arange(len(sums)), np.unique(evaluation_set.truth.indices)):
        top = items[np.argsort(-sums[items], kind="stable")[: evaluation_set.k]]
        text = wanted.between.join(evaluation_set.candidate_ids.gather(top))
        frame = users.alias(wanted.user).to_frame()
        frame.with_columns(pl.lit(text).alias(wanted.items)).write_csv(sample)
        solution = folder / SOLUTION
        validation = validate(sample, sample=sample, solution=solution, separator=separator)
        if validation.valid:
            return
        messages.append(validation.errors[0].message)
    raise UsageError(f"{SAMPLE} would be refused: {messages[0]}; {OTHERWISE}")


def _write_events(
    task: Task, events: Events, path: Path, rows: int, names: tuple[str, str]
) -> None:
    """Write events in the order of the data set, some `rows` at a time."""
    data = task.data
    # The shortest form that all times can be written in.
    unit = int(np.gcd.reduce(data.events.time)) if data.has_time else 0
    form = next(form for length, form in _TIMES if unit % length == 0)
    kinds = pl.Series(data.kinds) if task.config.layout().tells_types else None
    with path.open("wb") as file:
        for start in range(0, len(events), rows):
            part = slice(start, start + rows)
            columns: dict[str, Any] = {
                names[0]: data.user_ids.gather(events.user[part]),
                names[1]: data.item_ids.gather(events.item[part]),
            }
            if data.has_time:
                columns[TIME] = (
                    pl.Series(events.time[part]).cast(pl.Datetime("us")).dt.strftime(form)
                )
            if kinds is not None:
                columns[KIND] = kinds.gather(events.kind[part])
            if events.value is not None:
                columns[VALUE] = events.value[part]
            pl.DataFrame(columns).write_csv(file, include_header=start == 0)


def _write_config(task: Task, path: Path, names: tuple[str, str], asked: Against) -> str:
    """Write a config on the files beside it, with the same evaluation set; or return why not."""
    # The candidates are those of items.csv, whatever the rule.
    import tomli_w

    config, tells_types = task.config, task.config.layout().tells_types
    if task.data.registered is not None and config.evaluation.users == "seen":
        return "the users depend on when they registered, and these files do not have this"
    values = config.written(path.parent)
    data = values["data"] = {"layout": "table", "path": ".", "events": TRAIN, "items": ITEMS}
    data |= {KIND: KIND} if tells_types else {}
    data |= {} if task.data.events.value is None else {VALUE: VALUE}
    data |= {} if task.data.has_time else {TIME: False}
    data |= {} if names == (USER, ITEM) else {"user": names[0], "item": names[1]}
    values["split"] = {"strategy": "given", "valid": VALID}
    evaluation = values["evaluation"] = {**values.get("evaluation", {}), "candidates": "catalogue"}
    hits = evaluation.pop("hits", None)
    if hits is not None and tells_types:
        there = {task.data.kinds[code] for code in np.unique(task.split.valid.kind).tolist()}
        evaluation["hits"] = [name for name in hits if name in there]
    values.get("submission", {}).pop("sample", None)
    if not (config.data.layout in FORMATS or asked.required):
        # Of its own sample nothing follows for lists that the config took.
        values["submission"] = values.get("submission", {}) | {"sample": False}
    if config.compare.slices:  # those of a table of users, which is not written
        values["compare"]["slices"] = [name for name in config.compare.slices if name in OWN]
    path.write_text(tomli_w.dumps(values), encoding="utf-8")
    return ""
