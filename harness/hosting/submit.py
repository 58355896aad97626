"""A model's lists as a submission: a row for everyone whom the competition asks for."""

from __future__ import annotations

import logging
import shlex
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
from harness.core.progress import stopwatch
from harness.data import loading
from harness.data.dataset import positions
from harness.evaluation.answers import fitted, recommend
from harness.evaluation.build import Factories
from harness.evaluation.rescore import RunLists, lists_of
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.evaluation_set import EvaluationSet, candidates_of, items_in_train, items_of
from harness.protocol.task import Task, make_task, model_of, noted
from harness.results.run import read
from harness.scoring import competition
from harness.scoring.terms import last_of, which_of
from harness.scoring.validate import faults_of
from harness.submission import format
from harness.submission.expected import Against
from harness.submission.fix import LISTS, is_lists
from harness.submission.format import Format

_NOBODY = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submitted:
    """What was written.

    Attributes
    ----------
    path : Path
    rows : int
    without_history : int
        Users without any event in the data.
    beyond_sample : int
        Users of the evaluation set for whom the competition does not ask.
    notes : tuple of str
        Which of several folds it is, and what looked odd in the data.
    """

    path: Path
    rows: int
    without_history: int
    beyond_sample: int
    notes: tuple[str, ...]


def submit(
    config: Config,
    model: str,
    out: Path,
    *,
    repeat: int = 0,
    all_events: bool = False,
    where: str = "config",
) -> Submitted:
    """Write the lists of a config's model for everyone who needs a row.

    Those are the users of the sample submission, or else of the table of users, and those of the
    evaluation set, whose lists are the ones that a run scores; for an upload, the first alone.
    Users without any event are unknown to the model; it is fitted once more with them among its
    users, so that it can be asked.

    Parameters
    ----------
    all_events : bool
        Whether it is for an upload: the model learns from the evaluated days too, and nobody has a
        row for whom the competition does not ask.
    where : str
        The config's file, for messages.

    Raises
    ------
    HarnessError
        A config, file or model that cannot be used; a file that cannot be written.
    """
    settings = model_of(config, model, repeat, where)
    refuse_overwriting(out, read_by(config), is_lists, what=LISTS)
    task = evaluated = make_task(config)
    if all_events:
        task = _on_everything(task)
    asked = competition.of_config(config)
    users, required = rows_of(asked, task.evaluation_set, beyond=not all_events)
    at = positions(users, task.data.user_ids)
    known, strange = (np.flatnonzero(of).astype(np.int32) for of in (at >= 0, at < 0))
    answers = [(known, _answer(at[known], settings, task, repeat))]
    if len(strange) > 0:
        wider, own = _with_users(task, users.gather(strange))
        answers.append((strange, _answer(own, settings, wider, repeat)))
    longest = max(answer.items.shape[1] for _, answer in answers)
    lists = np.full((len(users), longest), EMPTY, np.int32)
    for rows, answer in answers:
        lists[rows, : answer.items.shape[1]] = answer.items
    # Items that nobody knows are the same for both, as far as they go.
    strange_items = max((answer.strange for _, answer in answers), key=len)
    _write(lists, out, users, strange_items, asked, task, evaluated)
    beyond = len(users) - required if required > 0 else 0
    folds = task.config.n_folds
    which = [last_of(folds)] if folds > 1 and not all_events else []
    return Submitted(out, len(users), len(strange), beyond, (*which, *task.data.notes))


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
    refuse_overwriting(out, read_by(config), is_lists, what=LISTS)
    found = lists_of(run, model, repeat, fold)
    of, strange = found.task.evaluation_set, found.lists.strange
    asked = competition.of_config(config)
    users, required = rows_of(asked, of)
    at = positions(users, of.user_ids)
    unknown = users.filter(pl.Series(at < 0))
    if len(unknown) > 0:
        more = counted(len(unknown), "user more", "users more")
        raise UsageError(
            f"{run.folder}: has lists of its {counted(len(of.users), 'evaluated user')} alone, and "
            f'the competition asks for {more}, such as "{printable(unknown[0])}"; have the model '
            f"learn again and asked for all: {_again(found, run.folder, model, repeat, out)}"
        )
    _refuse_nameless(model, strange)
    _write(found.lists.items[at], out, users, strange, asked, found.task, found.task)
    beyond = len(users) - required if required > 0 else 0
    which = which_of(found.fold, found.folds, "submit")
    repeats = found.model.repeats
    own = f"repeat {repeat}; the run's scores are means over repeats 0 to {repeats - 1}"
    told = [which, own if repeats > 1 else ""]
    notes = (*filter(None, told), *found.task.data.notes)
    return Submitted(out, len(users), 0, beyond, notes)


def _again(found: RunLists, run: Path, model: str, repeat: int, out: Path) -> str:
    """Return the command by which a run's model learns again."""
    config = str(run / "config.toml")
    if found.fold < found.folds:
        split = shlex.join(["harness", "split", config, "--out", "DIR"])
        return f"{split}, and harness submit with the config of fold {found.fold} that it writes"
    also = ["--repeat", str(repeat)] if repeat else []
    return shlex.join(["harness", "submit", config, "--model", model, *also, "--out", str(out)])


def _write(
    lists: Int32,
    out: Path,
    users: pl.Series,
    strange: pl.Series,
    asked: Against,
    task: Task,
    evaluated: Task,
) -> None:
    """Write lists of candidates, and of the `strange` items behind them.

    Parameters
    ----------
    evaluated : Task
        What `validate` knows of the config.

    Raises
    ------
    UsageError
        A file that cannot be written, or that `validate` would refuse.
    """
    of = task.evaluation_set
    items = pl.concat([of.candidate_ids, strange.alias(of.candidate_ids.name)])
    if not out.name.endswith((".csv", ".csv.gz")):
        raise UsageError(f"{out}: a submission is a .csv or a .csv.gz file; name one")
    with written(out), scratch_folder(out) as folder:
        file = folder / out.name
        to_csv(lists, file, users, items, form_of(asked, of.k))
        with noted(task.data):
            for fault in faults_of(file, asked, evaluated):
                raise UsageError(f"{out}: would be refused: {fault.message}; {fault.hint}")
        file.replace(out)


def read_by(config: Config) -> list[Path]:
    """Return the files that a config's data, models and competition are read from."""
    named = [paths_of(one.lists) for one in config.models if one.lists]
    lists = [config.folder / path for paths in named for path in paths]
    sample = competition.sample_of(config)
    return [*loading.files(config.layout()), *lists, *([] if sample is None else [sample])]


def rows_of(
    asked: Against, evaluation_set: EvaluationSet, *, beyond: bool = True
) -> tuple[pl.Series, int]:
    """Return the users who have a row, each once, and for how many the competition asks.

    Parameters
    ----------
    beyond : bool
        Whether users of the evaluation set have one for whom the competition does not ask; where it
        asks for nobody, they have.
    """
    users = pl.Series("id", asked.all_names(), dtype=pl.String)
    required = users.n_unique()
    if beyond or required == 0:
        users = pl.concat([users, evaluation_set.user_ids.alias("id")])
    return users.unique(maintain_order=True), required


def form_of(asked: Against, k: int) -> Format:
    """Return what lists of up to k items are written as."""
    wanted = (asked.format or format.generic("user", "item")).cut_at(k)
    return replace(wanted, between=asked.between or wanted.between)


def _answer(users: Int32, settings: ModelConfig, task: Task, repeat: int) -> Recommendations:
    """Fit the model, and return the lists of some users."""
    name, took = settings.name, stopwatch()
    model = fitted(name, Factories(task.config, name).made(repeat)[name], task)
    order = np.argsort(users)
    found = recommend(name, model, _asking(task, users[order]), repeat)
    _refuse_nameless(name, found.strange)
    _log.info("%s: lists for %s, %s", printable(name), counted(len(users), "user"), took())
    return replace(found, items=found.items[places(order, len(users))])


def _refuse_nameless(model: str, strange: pl.Series) -> None:
    """Raise UsageError where items of lists have no id."""
    if strange.null_count() > 0:
        raise UsageError(
            f'model "{model}": its lists hold items that neither the data nor the '
            "catalogue knows, so no id can be written for them; take them out of its file"
        )


def _asking(task: Task, users: Int32) -> Task:
    """Return the task with other users in the place of its own, in id order."""
    evaluation_set = task.evaluation_set
    ids = task.data.user_ids.gather(users)
    asked = replace(
        evaluation_set,
        users=users,
        user_ids=ids,
        truth=_NOBODY,
        relevant=np.zeros(len(users), np.int64),
    )
    if evaluation_set.seen is not None:
        asked = replace(asked, seen=items_of(asked, task.data, task.split.train))
    return replace(task, evaluation_set=asked)


def _on_everything(task: Task) -> Task:
    """Return the task with all events to learn from, its users and k as they were."""
    data = task.data
    cutoff = int(data.events.time.max()) + 1 if data.has_time else None
    parts = replace(task.split, train=data.events, cutoff=cutoff, until=None)
    rule = task.config.evaluation.candidates or data.candidates
    if rule == "shown":
        raise UsageError(
            "--all-events: the candidates are what is shown in the window, and the data says "
            "nothing of what is shown behind it"
        )
    candidates = candidates_of(data, parts, rule, lambda: items_in_train(data, parts))
    evaluation_set = replace(
        task.evaluation_set, candidates=candidates, candidate_ids=data.item_ids.gather(candidates)
    )
    return replace(task, split=parts, evaluation_set=evaluation_set)


def _with_users(task: Task, ids: pl.Series) -> tuple[Task, Int32]:
    """Return the task with more users, who have no events, and their positions.

    Its data holds what there is to learn from alone: nothing else is looked at any more.
    """
    data, past = task.data, task.split.train
    every = pl.concat([data.user_ids, ids.alias(data.user_ids.name)])
    order = every.arg_sort().to_numpy()
    moved = places(order, len(every))
    train = past.placed(moved)
    wider = replace(data, user_ids=every.gather(order), events=train, registered=None)
    task = replace(task, data=wider, split=replace(task.split, train=train))
    return task, moved[len(data.user_ids) :]


def to_csv(
    lists: Int32,
    path: Path,
    users: pl.Series,
    candidates: pl.Series,
    wanted: Format,
) -> None:
    """Write a submission: a row a user, the items one text, best first.

    Parameters
    ----------
    lists : int32 array, (n, k)
        Candidate positions, best first, ``EMPTY`` where there is no item.
    path : Path
        Ends with ``.csv``, or ``.csv.gz`` for a packed file.
    users : polars.Series of str, (n,)
    candidates : polars.Series of str
        The id of every position.
    wanted : Format
        Columns, what stands between items, and the longest list.

    Raises
    ------
    UsageError
        An id that could not be read again, or a file that cannot be written.
    """
    refuse_unreadable(users, candidates, wanted)
    places = [
        candidates.gather(pl.Series(place).replace(EMPTY, None)) for place in lists.T[: wanted.k]
    ]
    texts = pl.concat_str(places, separator=wanted.between, ignore_nulls=True).replace("", None)
    frame = pl.DataFrame({wanted.user: users}).with_columns(texts.alias(wanted.items))
    compression: Literal["gzip", "uncompressed"] = (
        "gzip" if path.suffix == ".gz" else "uncompressed"
    )
    with written(path), whole_file(path) as temporary:
        frame.write_csv(temporary, compression=compression, check_extension=False)


def shown_id(text: str) -> str:
    r"""Return an id as a message names it, whatever it holds.

    Examples
    --------
    >>> print(shown_id("a b"), shown_id("a\tb"))
    "a b" 'a\tb'
    """
    return f'"{text}"' if text.isprintable() else repr(text)


def refuse_unreadable(users: pl.Series, items: pl.Series, wanted: Format) -> None:
    """Raise UsageError where an id could not be read again from a file of lists."""
    refuse_controls(users, items)
    between = items.filter(items.str.contains(wanted.between, literal=True))
    free = [s for s in format.NAMES if not items.str.contains(s, literal=True).any()]
    else_ = (
        f"choose another: --set {shlex.quote(f'submission.separator={free[0]}')}" if free else ""
    )
    _refuse("item", between, f'holds "{wanted.between}", which stands between items', else_)
    for role, ids in (("item", items), ("user", users)):
        _refuse(role, ids.filter(ids.str.strip_chars(" \t") != ids), "begins or ends with a space")


def refuse_controls(users: pl.Series, items: pl.Series) -> None:
    """Raise UsageError where an id holds what no reader of text leaves within a field."""
    for role, ids in (("item", items), ("user", users)):
        controls = ids.str.contains(r"[\x00\r\x1a\x1e\x1f]")
        _refuse(role, ids.filter(controls), "holds a control character")


def _refuse(role: str, ids: pl.Series, why: str, else_: str = "") -> None:
    if len(ids) > 0:
        raise UsageError(
            f"{role} {shown_id(ids[0])} {why}: it could not be read again from a file; "
            f"{else_ or 'write such ids otherwise in the data'}"
        )
