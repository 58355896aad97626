"""A model's lists as a submission: a row for everyone whom the competition asks for."""

from __future__ import annotations

import logging
import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.config.paths import paths_of
from harness.core.arrays import Int32, Ragged, places
from harness.core.errors import UsageError, counted, printable
from harness.core.io import refuse_overwriting, scratch_folder, whole_file, written
from harness.core.progress import doing, stopwatch
from harness.data import loading
from harness.data.dataset import ITEM, KIND, TIME, USER, VALUE, positions
from harness.delimited.stream import Refused
from harness.evaluation.answers import fitted, recommend
from harness.evaluation.build import Factories
from harness.evaluation.rescore import task_of
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet, candidates_of, items_of
from harness.protocol.task import Task, make_task, model_of, noted
from harness.protocol.truth import Solution
from harness.results.folder import RECOMMENDATIONS, table
from harness.results.run import read
from harness.scoring import competition
from harness.scoring.terms import which_fold
from harness.submission import format
from harness.submission.columns import users_and_items
from harness.submission.expected import Against
from harness.submission.fix import LISTS, is_lists
from harness.submission.format import Format
from harness.submission.validate import examine

OTHERWISE = "change such ids in the data"
"""What to do about ids that a file cannot hold."""
_NOBODY = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submitted:
    """What was written, and how many of its users have no events, or no row in the sample."""

    path: Path
    rows: int
    without_history: int
    beyond_sample: int
    notes: tuple[str, ...]
    """Which of several folds it is, and what looked odd in the data."""


def submit(
    config: Config,
    model: str,
    out: Path,
    *,
    repeat: int = 0,
    all_events: bool = False,
) -> Submitted:
    """Write the lists of a config's model for everyone who needs a row.

    Those are the users of the sample submission, or else of the table of users, and those of the
    evaluation set, whose lists are the ones that a run scores; for an upload, the first alone.
    Users without any event are unknown to the model, so it is fitted once more with them.

    Parameters
    ----------
    all_events : bool
        Whether it is for an upload: the model learns from the evaluated days too, and nobody has a
        row for whom the competition does not ask.

    Raises
    ------
    HarnessError
        A config, file or model that cannot be used; a file that cannot be written.
    """
    settings = model_of(config, model, repeat)
    _require_new(out, config)
    task = make_task(config)
    evaluated, asked = task.evaluation_set, competition.of_config(config)
    if all_events:
        task = _on_everything(task)
    users, beyond = rows_of(asked, evaluated, beyond=not all_events)
    codes = positions(users, task.data.user_ids)
    unknown = np.flatnonzero(codes < 0)
    answers = [(codes >= 0, _answer(codes[codes >= 0], settings, task, repeat))]
    if len(unknown) > 0:
        wider, more = _with_users(task, users.gather(unknown))
        answers.append((codes < 0, _answer(more, settings, wider, repeat)))
    items = np.full((len(users), evaluated.k), EMPTY, np.int32)
    for rows, answer in answers:
        items[rows, : answer.items.shape[1]] = answer.items
    # Items that nobody knows are the same for both, as far as they go.
    strange = max((answer.strange for _, answer in answers), key=len)
    _write(model, Recommendations(items, strange), out, users, asked, task, evaluated)
    fold = "" if all_events else which_fold(config.n_folds, config.n_folds)
    notes = tuple(filter(None, [fold, *task.data.notes]))
    return Submitted(out, len(users), len(unknown), beyond, notes)


def submit_run(
    folder: Path | str,
    model: str,
    out: Path | str,
    *,
    repeat: int = 0,
    fold: int | None = None,
) -> Submitted:
    """Write the lists of a run's model: nothing learns again.

    The file is the one that `submit` writes by the run's config. A run has lists of its evaluated
    users alone, so where the competition asks for others the run is refused.

    Parameters
    ----------
    fold : int, optional
        Which of several, from 1, the earliest; the last by default.

    Raises
    ------
    HarnessError
        No such run, model or repeat; a model that failed; a run without lists, or without those of
        everyone who needs a row; data that has changed since; a file that cannot be written.
    """
    run, out = read(folder), Path(out)
    config = run.settings
    _require_new(out, config)
    repeats = run.model_of(model, repeat).repeats  # known before any event is read
    table(run.folder, RECOMMENDATIONS)
    of_run = task_of(run, fold)
    every_list = of_run.lists(model, repeat)
    task, asked = of_run.task, competition.of_config(config)
    evaluated = task.evaluation_set
    users, beyond = rows_of(asked, evaluated)
    rows = positions(users, evaluated.user_ids)
    unknown = users.filter(pl.Series(rows < 0))
    if len(unknown) > 0:
        config_file, repeated = str(run.folder / "config.toml"), ["--repeat", str(repeat)]
        words = ["harness", "submit", config_file, "--model", model, *(repeated if repeat else [])]
        again = shlex.join([*words, "--out", str(out)])
        if of_run.fold < of_run.folds:
            split = shlex.join(["harness", "split", config_file, "--out", "DIR"])
            again = f"{split}, and submit with the config of fold {of_run.fold} there"
        more = counted(len(unknown), "more user", "more users")
        raise UsageError(
            f"{run.folder}: has lists of its {counted(len(evaluated.users), 'evaluated user')}, "
            f'but the competition requires {more}, such as "{printable(unknown[0])}"; fit the '
            f"model again to get all lists: {again}"
        )
    lists = replace(every_list, items=every_list.items[rows])
    _write(model, lists, out, users, asked, task, evaluated)
    means = f"repeat {repeat}; the run's scores are means over repeats 0 to {repeats - 1}"
    fold_text = which_fold(of_run.fold, of_run.folds, runs=True)
    notes = filter(None, [fold_text, means if repeats > 1 else "", *task.data.notes])
    return Submitted(out, len(users), 0, beyond, tuple(notes))


def _require_new(out: Path, config: Config) -> None:
    """Raise UsageError unless a submission can be written there."""
    if not out.name.endswith((".csv", ".csv.gz")):
        raise UsageError(f"{out}: a submission must be a .csv or .csv.gz file; name one")
    refuse_overwriting(out, read_by(config), is_lists, what=LISTS)


@doing("writing the lists")
def _write(
    model: str,
    lists: Recommendations,
    out: Path,
    users: pl.Series,
    asked: Against,
    task: Task,
    evaluated: EvaluationSet,
) -> None:
    """Write lists of a task's candidates; raises UsageError where `validate` would refuse them."""
    if lists.strange.null_count() > 0:
        raise UsageError(
            f'model "{model}": its lists have items that are not in the data or the catalogue, '
            "so they have no id; remove them from its file"
        )
    candidates = task.evaluation_set.candidate_ids
    ids = pl.concat([candidates, lists.strange.alias(candidates.name)])
    solution = Solution(evaluated.user_ids, evaluated.candidate_ids, evaluated.judgments())
    with written(out), scratch_folder(out) as folder:
        file = folder / out.name
        to_csv(lists.items, file, users, ids, form_of(task.config, asked, evaluated.k))
        with noted(task.data):
            for fault in examine(file, asked.scored_by(solution), solution).validation.errors:
                raise UsageError(f"{out}: would be refused: {fault.message}; {fault.hint}")
        file.replace(out)


def read_by(config: Config) -> list[Path]:
    """Return the files that a config's data, models and competition are read from."""
    names = [name for model in config.models if model.lists for name in paths_of(model.lists)]
    files = [*loading.files(config.layout()), *(config.folder / name for name in names)]
    sample = competition.sample_of(config)
    return files if sample is None else [*files, sample]


def rows_of(
    asked: Against, evaluation_set: EvaluationSet, *, beyond: bool = True
) -> tuple[pl.Series, int]:
    """Return the users who have a row, and how many of them the competition does not require.

    With `beyond`, or if the competition requires nobody, all evaluated users have a row.
    """
    names = asked.users.named(np.arange(asked.required))
    required = pl.Series("id", [name.decode("utf-8", "replace") for name in names], dtype=pl.String)
    if len(required) > 0 and not beyond:
        return required, 0
    users = pl.concat([required, evaluation_set.user_ids.alias("id")]).unique(maintain_order=True)
    return users, len(users) - len(required) if len(required) > 0 else 0


def columns_of(config: Config) -> tuple[str, str]:
    """Return what the log calls its users and items, if a reader of lists knows such names."""
    log = config.layout().events[0]
    names, taken = (log.user, log.item), {"Usage", "grade", TIME, KIND, VALUE}
    with suppress(Refused):
        if users_and_items([*names, "grade", "Usage"]) == names and taken.isdisjoint(names):
            return names
    return USER, ITEM


def form_of(config: Config, asked: Against, k: int) -> Format:
    """Return what lists of up to k items are written as."""
    user, item = columns_of(config)
    wanted = (asked.format or format.generic(user, item)).cut_at(k)
    return replace(wanted, between=asked.between or wanted.between)


def _answer(users: Int32, settings: ModelConfig, task: Task, repeat: int) -> Recommendations:
    """Return the lists of some users, in their order, by the model fitted on a task."""
    name, took = settings.name, stopwatch()
    model = fitted(name, Factories(task.config, [name]).make([name], repeat)[name], task)
    order = np.argsort(users)
    asked = replace(
        task.evaluation_set,
        users=users[order],
        user_ids=task.data.user_ids.gather(users[order]),
        truth=_NOBODY,
        relevant=np.zeros(len(users), np.int64),
    )
    if asked.seen is not None:
        asked = replace(asked, seen=items_of(asked, task.data, task.split.train))
    lists = recommend(name, model, replace(task, evaluation_set=asked), repeat)
    _log.info("%s: lists for %s, %s", printable(name), counted(len(users), "user"), took())
    return replace(lists, items=lists.items[places(order, len(users))])


def _on_everything(task: Task) -> Task:
    """Return the task with all events to learn from, its users and k as they were."""
    data = task.data
    cutoff = int(data.events.time.max()) + 1 if data.has_time else None
    parts = replace(task.split, train=data.events, cutoff=cutoff, until=None)
    rule = task.config.evaluation.candidates or data.candidates
    if rule == "shown":
        raise UsageError(
            "--all-events: the candidates are the items shown in the window, and the data does "
            "not say what is shown after it"
        )
    candidates = candidates_of(data, parts, rule)
    evaluation_set = replace(
        task.evaluation_set, candidates=candidates, candidate_ids=data.item_ids.gather(candidates)
    )
    return replace(task, split=parts, evaluation_set=evaluation_set)


def _with_users(task: Task, ids: pl.Series) -> tuple[Task, Int32]:
    """Return the task with more users, who have no events, and their positions."""
    # The data keeps only what there is to learn from: nothing else is looked at any more.
    data = task.data
    every = pl.concat([data.user_ids, ids.alias(data.user_ids.name)])
    order = every.arg_sort().to_numpy()
    moved = places(order, len(every))
    train = task.split.train.placed(moved)
    wider = replace(data, user_ids=every.gather(order), events=train, registered=None)
    task = replace(task, data=wider, split=replace(task.split, train=train))
    return task, moved[len(data.user_ids) :]


def to_csv(
    lists: Int32, path: Path, users: pl.Series, candidates: pl.Series, wanted: Format
) -> None:
    """Write a submission: a row a user, the items one text, best first.

    `lists`, (n, k), hold positions in `candidates`, ``EMPTY`` where there is no item. A path that
    ends with ``.gz`` is packed. UsageError where an id could not be read again.
    """
    refuse_unreadable(users, candidates, wanted)
    ranks = [pl.Series(place).replace(EMPTY, None) for place in lists.T[: wanted.k]]
    columns = [candidates.gather(place) for place in ranks]
    texts = pl.concat_str(columns, separator=wanted.between, ignore_nulls=True).replace("", None)
    frame = pl.DataFrame({wanted.user: users}).with_columns(texts.alias(wanted.items))
    packed: Literal["gzip", "uncompressed"] = "gzip" if path.suffix == ".gz" else "uncompressed"
    with written(path), whole_file(path) as temporary:
        frame.write_csv(temporary, compression=packed, check_extension=False)


def shown_id(text: str) -> str:
    """Return an id as a message names it."""
    return f'"{text}"' if text.isprintable() else repr(text)


def refuse_unreadable(users: pl.Series, items: pl.Series, wanted: Format) -> None:
    """Raise UsageError where an id could not be read again from a file of lists."""
    free = [sign for sign in format.NAMES if not items.str.contains(sign, literal=True).any()]
    cure = f"choose another: --set {shlex.quote(f'submission.separator={free[0]}')}" if free else ""
    between = f'holds "{wanted.between}", the separator of items'
    controls, edges = r"[\x00\r\x1a\x1e\x1f]", r"^[ \t]|[ \t]$"
    for role, ids, pattern, why in (
        ("item", items, controls, "holds a control character"),
        ("user", users, controls, "holds a control character"),
        ("item", items, f"[{wanted.between}]", between),
        ("item", items, edges, "begins or ends with a space"),
        ("user", users, edges, "begins or ends with a space"),
    ):
        unreadable = ids.filter(ids.str.contains(pattern))
        if len(unreadable) > 0:
            raise UsageError(
                f"{role} {shown_id(unreadable[0])} {why}, so it could not be read back from a "
                f"file; {cure if why is between and cure else OTHERWISE}"
            )
