"""Solutions: who is examined and what is true of them, from a file or from a config's exam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness import kept
from harness.arrays import Bool
from harness.errors import DataError, printable
from harness.frames import ids, truth
from harness.metrics import Key, Metric
from harness.ragged import Ragged
from harness.submission import read as file

if TYPE_CHECKING:
    from harness.config import Config
    from harness.setting import Setting

FORMAT = 1
"""Raised whenever an exam would be set or kept differently."""

_WRITTEN = r"^[\[(\{'\"]|[,;|]|[\])\}'\"]$"
_NO_IDS = pl.Series(dtype=pl.String)


@dataclass(frozen=True, eq=False)
class Solution:
    """What lists are marked by.

    Attributes
    ----------
    users : polars.Series of str, (n,)
        Who is examined.
    items : polars.Series of str
        The id of every position in `key`.
    key : Key, n rows
    boards : mapping of Public and Private to bool array, (n,)
        Which users belong to which board, where the solution says so.
    ignored : polars.Series of str
        Users whom the solution knows and does not examine.
    averaged : bool array, (n,), optional
        Whose values means are of; None: everyone's.
    repeated : int, optional
        True items that stand again, counted once; None where no file could repeat one.
    outside : polars.Series of str
        True items that are no candidates, by user; they count in R alone.
    history : Ragged, n rows, optional
        Positions of the items that each user has in training.
    metrics : tuple of Metric
        Those asked for, or the config's.
    k : int, optional
        Places that the exam looks at; None where all are.
    fingerprint : str, optional
        That of the exam, where a config sets one.
    between : str, optional
        What stands between the items of its lists, where they are a file's.
    """

    users: pl.Series
    items: pl.Series
    key: Key
    boards: Mapping[str, Bool] = field(default_factory=dict)
    ignored: pl.Series = field(default_factory=lambda: _NO_IDS)
    averaged: Bool | None = None
    repeated: int | None = None
    outside: pl.Series = field(default_factory=lambda: _NO_IDS)
    history: Ragged | None = None
    metrics: tuple[Metric, ...] = ()
    k: int | None = None
    fingerprint: str | None = None
    between: str | None = None

    @property
    def left_out(self) -> dict[str, int]:
        """Counts of what a file of true items holds that is odd, or not averaged."""
        if self.repeated is None:
            return {}
        empty = int(np.count_nonzero(np.asarray(self.key.relevant) == 0))
        kept = self.averaged is None
        return {
            "users_ignored": len(self.ignored),
            "users_without_items_kept" if kept else "users_without_items": empty,
            "true_items_repeated": self.repeated,
        }

    def of_kinds(self, kinds: tuple[tuple[str, float], ...]) -> Solution:
        """Return the same with users of several kinds, told by how their ids end.

        Raises
        ------
        DataError
            An id with another ending.
        """
        own = tuple((weight, self.users.str.ends_with(end).to_numpy()) for end, weight in kinds)
        none = ~np.any([of for _, of in own], axis=0)
        if none.any():
            user = self.users[int(none.argmax())]
            endings = ", ".join(end for end, _ in kinds)
            raise DataError(f'solution: user "{user}" is of no kind; ids end with {endings}')
        return replace(self, key=replace(self.key, kinds=own))


def of_file(
    path: Path | pl.DataFrame,
    named: file.Named | None = None,
    *,
    keep_users_without_items: bool = False,
    between: str | None = None,
) -> Solution:
    """Return the solution in a file or frame of true items.

    Users whose Usage is Ignored are left out.

    Parameters
    ----------
    keep_users_without_items : bool
        Whether users without true items are averaged, with 0, and not left out as in H&M.
    between : str, optional
        What stands between items, where lists hold it; by default what is plain.

    Raises
    ------
    DataError
        A file that cannot be used, or one that examines nobody.
    """
    read = file.read(path, named, true=True, between=between)
    with ids.coders() as coders:
        found = truth.grouped(read.table, coders, truth.read(read.table, coders))
        users, items = coders.users.ids().cast(pl.String), coders.items.ids().cast(pl.String)
    _refuse_written_lists(read, items)
    boards = dict(read.boards(users))
    keep = ~boards.pop("Ignored", np.zeros(len(users), np.bool_))
    if not keep.any():
        raise DataError(f"{read.path}: every user is Ignored, so there is nobody to examine")
    key = Key(found.rows, found.rows.sizes, found.grades).pick(keep)
    averaged = None if keep_users_without_items else np.asarray(key.relevant) > 0
    if averaged is not None and not averaged.any():
        raise DataError(
            f"{read.path}: no user has a true item, so there is nobody to average; to count such "
            "users with 0: --keep-users-without-items (Python: keep_users_without_items=True)"
        )
    return Solution(
        users=users.filter(pl.Series(keep)),
        items=items,
        key=key,
        averaged=averaged,
        boards={name: board[keep] for name, board in boards.items()},
        ignored=users.filter(pl.Series(~keep)),
        repeated=found.repeated,
        between=read.between,
    )


def _refuse_written_lists(read: file.File, items: pl.Series) -> None:
    """Raise DataError where most true items hold what separates items elsewhere, or any a NUL."""
    broken = items.filter(items.str.contains("\0", literal=True))
    if len(broken) > 0:
        raise DataError(
            f'{read.path}: column "{read.table.columns.item}": found "{printable(broken[0])}", a '
            "true item with a NUL byte, which no list can hit; save the file as UTF-8 text"
        )
    odd = items.filter(items.str.contains(_WRITTEN))
    if read.table.wide and 2 * len(odd) >= len(items) > 0:
        raise DataError(
            f'{read.path}: column "{read.table.columns.item}": found "{printable(odd[0])}" among '
            "the true items; write them with one space between, without brackets, quotes and "
            "commas, or say what stands between them with --separator"
        )


def of_config(config: Config, metrics: tuple[Metric, ...] = ()) -> Solution:
    """Return the solution of the exam that a config sets, kept from an earlier command if it can.

    Parameters
    ----------
    metrics : tuple of Metric
        What lists are to be marked by; the config's own by default.

    Raises
    ------
    HarnessError
        A file or a config that cannot be used, an empty exam.
    """
    from harness.setting import asked, set_exam

    metrics = metrics or asked(config)
    if any(metric.definition.needs for metric in metrics) or not config.data.cache:
        return of_setting(set_exam(config), metrics)
    entry = _entry(config)
    found = entry.read(_read)
    if found is None:
        found = of_setting(set_exam(config), metrics)
        if entry.settled:
            entry.keep(partial(_write, found))
    return replace(found, metrics=metrics)


def _entry(config: Config) -> kept.Entry:
    from harness import cache

    layout = config.layout()
    rules = config.evaluation.model_dump(exclude={"metrics", "seed"})
    return kept.entry((FORMAT, cache.FORMAT, layout, config.split, rules), cache.files(layout))


def of_setting(setting: Setting, metrics: tuple[Metric, ...] = ()) -> Solution:
    """Return the solution of an exam that is set."""
    from harness.catalogue import of_train
    from harness.evaluation import items_of
    from harness.setting import asked

    exam = setting.exam
    metrics = metrics or asked(setting.config)
    return Solution(
        users=exam.user_ids,
        items=exam.candidate_ids,
        key=Key(exam.truth, exam.relevant, catalogue=of_train(setting.train, metrics)),
        outside=exam.outside_ids,
        history=items_of(exam, setting.data, setting.parts.train),
        metrics=metrics,
        k=exam.k,
        fingerprint=exam.fingerprint,
    )


_ROWS = ("truth", "history")


def _write(solution: Solution, folder: Path) -> dict[str, Any]:
    assert solution.history is not None  # noqa: S101 - that of a setting
    texts = {"users": solution.users, "items": solution.items, "outside": solution.outside}
    for name, series in texts.items():
        series.alias("id").to_frame().write_ipc(folder / f"{name}.arrow")
    for name, rows in zip(_ROWS, (solution.key.truth, solution.history), strict=True):
        np.save(folder / f"{name}-ends.npy", rows.indptr, allow_pickle=False)
        np.save(folder / f"{name}.npy", rows.indices, allow_pickle=False)
    np.save(folder / "relevant.npy", solution.key.relevant, allow_pickle=False)
    return {"k": solution.k, "fingerprint": solution.fingerprint}


def _read(folder: Path, notes: dict[str, Any]) -> Solution:
    users, items, outside = (
        pl.read_ipc(folder / f"{name}.arrow")["id"] for name in ("users", "items", "outside")
    )
    truth, history = (
        Ragged(_array(folder, f"{name}-ends"), _array(folder, name)) for name in _ROWS
    )
    return Solution(
        users,
        items,
        Key(truth, _array(folder, "relevant")),
        outside=outside,
        history=history,
        k=notes["k"],
        fingerprint=notes["fingerprint"],
    )


def _array(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", allow_pickle=False)
