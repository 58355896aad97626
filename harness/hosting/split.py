"""A task as the files of a competition: events to learn from, a solution, a sample submission."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.config import Config
from harness.core.arrays import Int64
from harness.core.errors import UsageError
from harness.core.io import whole_folder, written
from harness.data.dataset import DAY_US, ITEM, KIND, TIME, USER, VALUE, Dataset, Events
from harness.evaluation.fold import named
from harness.evaluation.folds import HeldOut, notes_of, require_files, tasks
from harness.evaluation.inputs import config_in_place
from harness.hosting.solution import (
    ITEMS,
    SAMPLE,
    SOLUTION,
    columns_of,
    form,
    is_public,
    refuse_misread,
    write_sample,
    write_solution,
)
from harness.hosting.submit import read_by, refuse_controls, refuse_unreadable, rows_of
from harness.protocol.task import Task
from harness.protocol.users import OWN
from harness.results.folder import check_out
from harness.results.record import Evaluation, Part, Positive
from harness.scoring import competition
from harness.submission.format import FORMATS

TRAIN, VALID = "train.csv", "valid.csv"
CONFIG, RECORD = "config.toml", "split.json"
FILES = (TRAIN, VALID, ITEMS, SOLUTION, SAMPLE, CONFIG, RECORD)
_ROWS = 1 << 20
_TIMES = ((DAY_US, "%Y-%m-%d"), (1_000_000, "%Y-%m-%d %H:%M:%S"), (1, "%Y-%m-%d %H:%M:%S%.6f"))
"""How times are written that are whole multiples of so many microseconds."""


class SplitRecord(Part):
    """What split.json holds.

    Attributes
    ----------
    train, valid, held_back : int
        Events in train.csv, in valid.csv, and in neither.
    public_share : float
        The share of the evaluated users that was asked for on the public leaderboard.
    public, private : int
        Users on either leaderboard.
    sample : int
        Rows of the sample submission.
    without_items : int
        Evaluated users without a true item, who score 0.
    separator : str, optional
        What stands between items, where it is no space and ``--separator`` must say it.
    config : str
        Why there is no config.toml; empty where there is one.
    """

    evaluation: Evaluation
    train: Positive
    valid: Positive
    held_back: NonNegativeInt
    public_share: float
    public: Positive
    private: Positive
    sample: Positive
    without_items: NonNegativeInt
    separator: str | None = None
    config: str = ""


@dataclass(frozen=True)
class SplitFolder:
    """What was written.

    Attributes
    ----------
    folder : Path
    record : SplitRecord
    notes : tuple of str
        What looked odd in the data and in how they were split.
    """

    folder: Path
    record: SplitRecord
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FoldedSplit:
    """What was written of several folds.

    Attributes
    ----------
    folder : Path
        It holds a folder a fold, ``fold-1`` and on.
    folds : tuple of SplitFolder
    notes : tuple of str
        Those of the folds, and which of them hold out the same.
    """

    folder: Path
    folds: tuple[SplitFolder, ...]
    notes: tuple[str, ...]


def split(
    config: Config | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    public_share: float | None = None,
) -> SplitFolder | FoldedSplit:
    """Write the files of a competition on a config's evaluation set, all or none.

    Of several folds each has a folder of its own, ``fold-1`` and on, as if it were the only one.

    A submission scored against solution.csv has the score of a run of the config, public and
    private users together.

    Parameters
    ----------
    config : path of a TOML file, or mapping
        A mapping has the sections of the file, as `harness.run` takes them, with frames for files.
    out : path
        A folder, which is made; one of an earlier split is replaced.
    public_share : float, optional
        Of the evaluated users, who is on the public leaderboard; by default the largest of
        ``[compare] public_shares``.

    Returns
    -------
    SplitFolder or FoldedSplit
        ``record.evaluation.fingerprint``, ``record.public`` and more; of each of several folds.

    Raises
    ------
    HarnessError
        A config or a file that cannot be used, a folder that is something else, a share that leaves
        a leaderboard empty, ids that a solution or a submission cannot hold.
    """
    config = config_in_place(config)
    require_files(config)
    folds = config.folds()
    out, share = Path(out), _share(config, public_share)
    check_out(out, is_split, "folder of harness split")
    _refuse_replacing(out, [*(path for one in folds for path in read_by(one)), config.folder])
    within = [f"fold-{number}" for number in range(1, len(folds) + 1)] if len(folds) > 1 else [""]
    done, held_out = list[SplitFolder](), HeldOut(config)
    with written(out, "; choose another --out"), whole_folder(out) as folder:
        for number, (name, task) in enumerate(zip(within, tasks(config), strict=True), 1):
            (folder / name).mkdir(exist_ok=True)
            with named(number, len(folds)):
                held_out.add(task.evaluation_set)
                record = write(task, folder / name, share)
            notes = *task.data.notes, *task.split.notes(task.config.evaluation.seen_items)
            done.append(SplitFolder(out / name, record, notes))
    if len(folds) == 1:
        return done[0]
    return FoldedSplit(out, tuple(done), notes_of(held_out, [fold.notes for fold in done]))


def write(task: Task, folder: Path, share: float, rows: int = _ROWS) -> SplitRecord:
    """Write the files of one task into a folder that is there.

    Parameters
    ----------
    share : float
        Of the evaluated users on the public leaderboard.
    rows : int
        Events of the data set that are looked at at a time, but for users who have more.
    """
    evaluation_set, parts = task.evaluation_set, task.split
    public = is_public(evaluation_set, share)
    asked = competition.of_config(task.config)
    names = columns_of(task.config)
    wanted = form(asked, evaluation_set.k, names)
    separator = wanted.between if wanted.between != " " else None
    users, _ = rows_of(asked, evaluation_set)
    refuse_controls(task.data.user_ids, task.data.item_ids)
    for ids in (evaluation_set.candidate_ids, evaluation_set.outside_ids):
        refuse_unreadable(users, ids, wanted)
    write_solution(evaluation_set, public, wanted, folder / SOLUTION)
    refuse_misread(folder, evaluation_set, separator)
    write_sample(task, users, wanted, folder, separator)
    evaluation_set.candidate_ids.alias(names[1]).to_frame().write_csv(folder / ITEMS)
    for events, name in ((parts.train, TRAIN), (parts.valid, VALID)):
        _write_events(task, events, folder / name, rows, names)
    missing = _write_config(task, folder / CONFIG, names)
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
        config=missing,
    )
    values = {"schema": 1, **record.model_dump(mode="json")}
    (folder / RECORD).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return record


def is_split(folder: Path) -> bool:
    """Return whether a folder is empty, or holds splits and nothing else, and may be replaced."""
    if not folder.is_dir():
        return False
    there = {path.name: path for path in folder.iterdir()}
    if there and all(re.fullmatch("fold-[0-9]+", name) for name in there):
        return all(_is_one(path) for path in there.values())
    return not there or _is_one(folder)


def _is_one(folder: Path) -> bool:
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return RECORD in there and there <= set(FILES)


def _share(config: Config, given: float | None) -> float:
    """Return the share that is asked for, or else that of the config."""
    shares = config.compare.public_shares if given is None else [given]
    if not shares:
        raise UsageError("[compare] public_shares is empty; name a share, --public-share 0.3")
    share = max(shares)
    if not 0 < share < 1:
        raise UsageError(f"--public-share is {share:g}; expected a number between 0 and 1")
    return share


def _refuse_replacing(out: Path, read: Iterable[Path]) -> None:
    """Raise UsageError where what is read lies in the folder that is to be replaced."""
    folder = out.resolve()
    for path in read:
        if folder in (path.resolve(), *path.resolve().parents):
            raise UsageError(
                f"{out}: holds {path.name}, which is read by this command and never touched; "
                "choose another --out"
            )


def _write_events(
    task: Task, events: Events, path: Path, rows: int, names: tuple[str, str]
) -> None:
    """Write events in the order of the data set, some users' at a time."""
    starts = task.data.events.user_starts(len(task.data.user_ids))  # `events` are chosen of these
    form = _time_form(task.data.events.time, rows) if task.data.has_time else ""
    kinds = pl.Series(task.data.kinds) if task.config.layout().tells_types else None
    with path.open("wb") as file:
        marks = np.searchsorted(starts, np.arange(0, starts[-1], rows))
        for first, end in pairwise([*np.unique(marks).tolist(), len(starts) - 1]):
            users = np.arange(first, end, dtype=np.int32)
            own = events.of_users(users, len(task.data.user_ids))
            frame = _frame(task.data, own, first, form, kinds)
            frame = frame.rename(dict(zip((USER, ITEM), names, strict=True)))
            frame.write_csv(file, include_header=first == 0)


def _frame(
    data: Dataset, events: Events, first: int, form: str, kinds: pl.Series | None
) -> pl.DataFrame:
    """Return events as they are written; the first of their users is at position `first`."""
    columns: dict[str, Any] = {
        USER: data.user_ids.gather(events.user + np.int32(first)),
        ITEM: data.item_ids.gather(events.item),
    }
    if data.has_time:
        columns[TIME] = pl.Series(events.time).cast(pl.Datetime("us")).dt.strftime(form)
    if kinds is not None:
        columns[KIND] = kinds.gather(events.kind)
    if events.value is not None:
        columns[VALUE] = events.value
    return pl.DataFrame(columns)


def _time_form(time: Int64, rows: int) -> str:
    """Return the shortest form that all times can be written in."""
    parts = [time[start : start + rows] for start in range(0, len(time), rows)]
    return next(form for unit, form in _TIMES if not any((part % unit).any() for part in parts))


def _write_config(task: Task, path: Path, names: tuple[str, str]) -> str:
    """Write a config on the files beside it, with the same evaluation set; or return why not."""
    import tomli_w

    if task.data.registered is not None and task.config.evaluation.users == "seen":
        return "users are evaluated by when they registered, which these files do not tell"
    values = _values(task, path.parent)
    if names != (USER, ITEM):
        values["data"] |= {"user": names[0], "item": names[1]}
    path.write_text(tomli_w.dumps(values), encoding="utf-8")
    return ""


def _values(task: Task, folder: Path) -> dict[str, Any]:
    """Return the plain values of such a config: items.csv are the candidates, whatever the rule."""
    config = task.config
    values = config.written(folder)
    data = {"layout": "table", "path": ".", "events": TRAIN, "items": ITEMS}
    columns = {KIND: config.layout().tells_types, VALUE: task.data.events.value is not None}
    values["data"] = data | {name: name for name, there in columns.items() if there}
    if not task.data.has_time:
        values["data"] |= {TIME: False}
    values["split"] = {"strategy": "given", "valid": VALID}
    values["evaluation"] = _evaluation(task, values.get("evaluation", {}))
    values.get("submission", {}).pop("sample", None)
    asks = config.data.layout in FORMATS or competition.of_config(config).asked
    if not asks:  # of its own sample nothing follows for lists that the config took
        values["submission"] = values.get("submission", {}) | {"sample": False}
    if config.compare.slices:  # those of a table of users, which is not written
        values["compare"]["slices"] = [name for name in config.compare.slices if name in OWN]
    return values


def _evaluation(task: Task, given: dict[str, Any]) -> dict[str, Any]:
    """Return ``[evaluation]`` of such a config, with the hits that there are."""
    own = {**given, "candidates": "catalogue"}
    hits = own.pop("hits", None)
    if hits is None or not task.config.layout().tells_types:
        return own
    there = {task.data.kinds[code] for code in np.unique(task.split.valid.kind).tolist()}
    return own | {"hits": [name for name in hits if name in there]}
