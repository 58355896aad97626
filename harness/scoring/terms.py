"""What submissions are checked and scored against: a config's evaluation set, or files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.errors import DataError, UsageError
from harness.core.io import as_path
from harness.delimited.stream import Refused
from harness.scoring.options import SubmissionOptions, flag_of
from harness.submission import expected, format
from harness.submission.expected import Against
from harness.submission.format import NAMES, Format, Named, TrueColumns

if TYPE_CHECKING:
    import polars as pl

    from harness.config import Config, SubmissionOnly
    from harness.metrics import Metric
    from harness.protocol.task import Task
    from harness.protocol.truth import Solution


_BESIDE = ("sample", "items", "solution", "separator", "keep_users_without_items")
"""Options that a config with data stands for."""


class Terms:
    """What `SubmissionOptions` name: a config with data, or a solution, a sample and items.

    Functions check the options by `require_options`, and the command line by itself. `form` is a
    config without data, which says what submissions look like. A command that reads the config's
    events anyway sets `task`.
    """

    task: Task | None = None

    def __init__(self, options: SubmissionOptions) -> None:
        self._named_files = [path for path in options.values() if isinstance(path, Path)]
        self.config, self.form = _read(options.get("config"), options.get("overrides", ()))
        self.sample = _path(options.get("sample"))
        if self.sample is None and self.form is not None and self.form.submission.sample:
            self.sample = self.form.folder / self.form.submission.sample
        self.items = _path(options.get("items"))
        solution = options.get("solution")
        self.solution = None if solution is None else path_or_frame(solution, "solution")
        self.named = Named(
            user=options.get("user_column"),
            item=options.get("item_column"),
            rank=options.get("rank_column"),
            score=options.get("score_column"),
            row_order=options.get("row_order", False),
            truth_user=options.get("truth_user_column"),
            truth_item=options.get("truth_item_column"),
            grade=options.get("grade_column"),
        )
        self.ids = options.get("ids")
        self.separator, self._separator_as = options.get("separator"), "as named"
        if self.separator is None and self.form is not None:
            self.separator = self.form.submission.separator
            self._separator_as = "as the config says"
        self.keep_users_without_items = options.get("keep_users_without_items", False)
        unset = [name for name, value in options.items() if value is None or value is False]
        typed = [flag_of(name) for name in _BESIDE if name in options and name not in unset]
        if self.config is not None and typed:
            separator = f"; or add --set 'submission.separator=\"{self.separator}\"'"
            raise UsageError(
                f"a config already sets this: remove {' and '.join(typed)}, or the "
                f"config{separator if self.separator else ''}"
            )
        if self.separator is not None and self.separator not in NAMES:
            allowed = ", ".join(f"'{sign}' ({name})" for sign, name in NAMES.items())
            raise UsageError(f"--separator is '{self.separator}'; expected one of {allowed}")
        named = self.named
        columns = list(named.columns.values())
        if len(set(columns)) < len(columns):
            raise UsageError(
                f"one column is named for two roles: {', '.join(columns)}; name two columns"
            )
        if (named.truth_user or named.truth_item or named.grade) and self.solution is None:
            raise UsageError(
                "--truth-user-column, --truth-item-column and --grade-column name columns of "
                "--solution; add --solution, or remove them"
            )
        if bool(named.rank) + bool(named.score) + named.row_order > 1:
            raise UsageError("the order of a list is by rank, by score or by row; choose one")

    @property
    def folder(self) -> Path:
        """Where paths in the config start."""
        config = self.config or self.form
        return Path() if config is None else config.folder

    @property
    def files(self) -> list[Path]:
        """Those that options name, the sample, and those of the config's data that are there."""
        from harness.data.table_files import files_of

        files = self._named_files + ([] if self.sample is None else [self.sample])
        for table in () if self.config is None else self.config.layout().tables:
            with suppress(DataError):
                files += files_of(table)
        return files

    @property
    def folds(self) -> int:
        """How many evaluation sets the config has; lists are held against the last."""
        return 1 if self.config is None else self.config.n_folds

    def checking(
        self, metrics: tuple[Metric, ...] = (), *, everyone: bool = False
    ) -> tuple[Against, Solution]:
        """Return what a file is checked and scored against, by some metrics or the config's own.

        `validate`, `score` and all others check by this, so that they find the same.
        """
        solution = self.scored_against(metrics, everyone=everyone)
        return self.against().scored_by(solution), solution

    def against(self) -> Against:
        """Return what rows and lists are checked against, where nothing is scored."""
        if self.config is not None:
            from harness.scoring import competition  # it takes pydantic and Polars

            against = competition.of_config(self.config)
        else:
            against = self._of_files()
        against = replace(against, named=self.named)
        config = self.config or self.form
        exact = "exact" in (self.ids, config and config.submission.ids)
        return against.exactly() if exact else against

    def _of_files(self) -> Against:
        wanted = None if self.sample is None else expected.of_sample(self.sample)
        wanted = wanted or self._competition
        if self.form is not None:
            wanted = format.as_said(self.form.submission, wanted or self._columns_format())
        against = expected.of_tables(items=self.items)
        against = replace(against, format=wanted, guess=self._guess)
        against = expected.with_sample(against, self.sample, self.separator, self._separator_as)
        # A competition's lists are written as ever, however the truth is.
        return against.separated(self._competition.between) if self._competition else against

    def scored_against(
        self, metrics: tuple[Metric, ...] = (), *, everyone: bool = False
    ) -> Solution:
        """Return the solution: that of the config's evaluation set, or the file's.

        With `everyone` a file's users without true items are averaged, whatever options say.
        """
        if self.config is not None:
            from harness.protocol import truth  # it takes Polars

            if self.task is not None:
                return truth.of_task(self.task, metrics)
            return truth.of_config(self.config, metrics)
        if self.solution is None:
            also = "; this config has no [data]" if self.form is not None else ""
            raise UsageError(
                "nothing to score against; add --config CONFIG or --solution SOLUTION (in Python, "
                f"config= or solution=){also}"
            )
        from harness.submission.solution import of_file  # it takes Polars

        named, header = self.named, self._solution_columns
        user, item = named.user, named.item
        if self.form is not None:
            user, item = user or self.form.submission.user, item or self.form.submission.items
        columns = TrueColumns(
            user=named.truth_user or (user if user in header else None),
            item=named.truth_item or (item if item in header else None),
            grade=named.grade,
        )
        everyone |= self._competition is not None and self._competition.averages_everyone
        solution = of_file(
            self.solution,
            columns,
            keep_users_without_items=self.keep_users_without_items or everyone,
            between=self.separator,
        )
        return replace(solution, metrics=metrics)

    @property
    def _guess(self) -> bool:
        """Whether nobody says what submissions look like, so that a competition may be known."""
        says = self.config or self.form or self.sample or self.named.user or self.named.item
        return says is None

    @cached_property
    def _competition(self) -> Format | None:
        """Return the competition that the solution is of, by its header and first rows."""
        if self.solution is None or not self._guess:
            return None
        first = partial(expected.first_cells, self.solution)
        return format.of_competition(self._solution_columns, first)

    def _columns_format(self) -> Format:
        """Return the format of the solution's own columns."""
        if self.solution is None:
            return format.generic("user", "item")
        try:
            return replace(format.of_header(self._solution_columns), prescribed=True)
        except Refused as error:
            raise expected.unreadable(Path("solution"), error) from error

    @cached_property
    def _solution_columns(self) -> Sequence[str]:
        solution = self.solution
        if solution is None:
            return ()
        return expected.columns(solution) if isinstance(solution, Path) else solution.columns


def which_fold(fold: int, folds: int, *, runs: bool = False) -> str:
    """Return what a command says that takes one of several folds; nothing of a single one.

    `runs`: it takes runs, too, and any fold of these.

    Examples
    --------
    >>> which_fold(3, 3)
    'fold 3 of 3, the last; for another: the files of harness split CONFIG --out DIR'
    """
    if folds == 1:
        return ""
    last = ", the last" if fold == folds else ""
    other = "--fold N of a run, or the files" if runs else "the files"
    return f"fold {fold} of {folds}{last}; for another: {other} of harness split CONFIG --out DIR"


def _read(
    config: Config | SubmissionOnly | Path | str | None, overrides: Sequence[str]
) -> tuple[Config | None, SubmissionOnly | None]:
    """Return a config with data, or one without."""
    if config is None:
        if overrides:
            raise UsageError(
                f"--set {overrides[0]} overrides a key of a config; name the config with --config"
            )
        return None, None
    from harness.config import Config, SubmissionOnly, read_for_submissions  # slow to import

    if not isinstance(config, (Config, SubmissionOnly)):
        config = read_for_submissions(as_path(config, "a config"), overrides)
    return (None, config) if isinstance(config, SubmissionOnly) else (config, None)


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else as_path(path, "a file")


def path_or_frame(source: Any, role: str) -> Path | pl.DataFrame:
    """Return a path, or a frame of any kind as Polars holds it; `role` names it in messages."""
    if isinstance(source, (str, Path)):
        return Path(source)
    from harness.metrics.inputs.frame import as_polars  # it takes Polars

    return as_polars(source, role)
